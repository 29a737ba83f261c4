// Charts by Chart.js; what it has not (intervals, the band of no difference) is drawn by a plugin.
Chart.defaults.animation = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

function axis(title, options) {
  return {
    title: { display: Boolean(title), text: title, color: color("soft") },
    grid: { color: color("line") }, ticks: { color: color("soft") }, ...options,
  };
}

// A canvas with words for those who cannot see it; `make` gives Chart.js its configuration in the colours of now.
const charts = [];
function chart(id, height, label, make) {
  const canvas = element("canvas", { id, role: "img", "aria-label": label });
  charts.push({ canvas, make, drawn: null });
  return element("div", { class: "chart", style: `height:${height}px` }, canvas);
}

function drawCharts() {
  for (const one of charts) {
    if (one.drawn) one.drawn.destroy();
    one.drawn = new Chart(one.canvas, { ...one.make(), options: { responsive: true, maintainAspectRatio: false, ...one.make().options } });
  }
}

function breakdownParts() {
  return partNames.filter((name) => known(report.breakdown[name]) && report.breakdown[name] > 0);
}

function breakdownChart() {
  const parts = breakdownParts();
  const said = parts.map((name) => `${spaced(name)} ${duration(report.breakdown[name])}`).join(", ");
  return chart("breakdown", 96, `What a step is made of: ${said}.`, () => ({
    type: "bar",
    data: {
      labels: [""],
      datasets: parts.map((name) => ({ label: spaced(name), data: [report.breakdown[name]], backgroundColor: partColors[name] })),
    },
    options: {
      indexAxis: "y",
      scales: {
        x: axis("ms per step", { stacked: true, max: parts.reduce((sum, name) => sum + report.breakdown[name], 0) }),
        y: axis("", { stacked: true, display: false }),
      },
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${duration(item.raw)}` } } },
    },
  }));
}

// A first step that sets everything up, an evaluation or a start of an epoch would leave the others too flat to see:
// what is much longer than ordinary steps are is cut off.
function topOfSteps(steps) {
  const special = ["warm-up", "epoch boundary", "evaluation"];
  const all = steps.ms.filter((_, index) => steps.kinds[index] !== "warm-up");
  const ordinary = steps.ms.filter((_, index) => !special.includes(steps.kinds[index])).sort((a, b) => a - b);
  const of = ordinary.length ? ordinary : [...all].sort((a, b) => a - b);
  if (!of.length) return 0;
  const at = (share) => of[Math.floor(share * (of.length - 1))];
  return 1.05 * Math.min(Math.max(at(0.95), 3 * at(0.5)), Math.max(...all));
}

function stepsChart(steps) {
  const each = steps.each > 1 ? `, the longest of each ${steps.each}` : "";
  const top = topOfSteps(steps), cut = steps.ms.filter((ms) => ms > top).length;
  const scale = top > 0 ? { max: top } : {};
  const said = cut ? `; ${cut} longer than ${duration(top)} are cut off there, the longest takes ${duration(Math.max(...steps.ms))}` : "";
  const fill = {
    steady: "accent", "operators not recorded": "soft", "slowed by recording": "info", "not settled yet": "low",
    "warm-up": "line", "epoch boundary": "medium", evaluation: "high",
  };
  return chart("steps", 200, `The length of each step in order${each}, ${steps.ms.length} bars${said}.`, () => ({
    type: "bar",
    data: {
      labels: steps.ms.map((_, index) => index * steps.each + 1),
      datasets: Object.keys(fill).map((kind) => ({
        label: kind, backgroundColor: color(fill[kind]), barPercentage: 1, categoryPercentage: 0.9, grouped: false,
        data: steps.ms.map((ms, index) => (steps.kinds[index] === kind ? ms : null)),
      })).filter((set) => set.data.some((ms) => ms !== null)),
    },
    options: {
      scales: { x: axis("step", { grid: { display: false } }), y: axis("ms", { beginAtZero: true, ...scale }) },
      plugins: {
        legend: { labels: { color: color("ink"), boxWidth: 14 } },
        tooltip: { callbacks: { title: (items) => `step ${items[0].label}`, label: (item) => `${duration(item.raw)}, ${item.dataset.label}` } },
      },
    },
  }));
}

// Rows of the speedup chart: everything that has a speedup, all together first.
function speedupRows() {
  const rows = words.fixes.map(({ shown }) => ({ ...report.trials[shown], name: words.trials[shown].name }));
  if (report.combined && known(report.combined.speedup)) {
    rows.unshift({ ...report.combined, name: "together", context: "", verdict: "", combined: true });
  }
  return rows.filter((row) => known(row.speedup));
}

const whiskers = {
  id: "whiskers",
  beforeDatasetsDraw(drawn, _, options) {
    const { ctx, chartArea: area, scales: { x } } = drawn;
    const [low, high] = options.band.map((value) => x.getPixelForValue(value));
    ctx.save();
    ctx.fillStyle = options.bandColor;
    ctx.fillRect(low, area.top, high - low, area.bottom - area.top);
    ctx.strokeStyle = options.lineColor;
    ctx.beginPath();
    ctx.moveTo(x.getPixelForValue(1), area.top);
    ctx.lineTo(x.getPixelForValue(1), area.bottom);
    ctx.stroke();
    ctx.restore();
  },
  afterDatasetsDraw(drawn) {
    const { ctx, scales: { x, y } } = drawn;
    ctx.save();
    ctx.lineWidth = 2;
    for (const point of drawn.data.datasets[0].data) {
      if (!point.ci95) continue;
      const [low, high] = point.ci95.map((end) => x.getPixelForValue(end)), at = y.getPixelForValue(point.y);
      ctx.strokeStyle = point.color;
      ctx.beginPath();
      ctx.moveTo(low, at); ctx.lineTo(high, at);
      for (const end of [low, high]) { ctx.moveTo(end, at - 5); ctx.lineTo(end, at + 5); }
      ctx.stroke();
    }
    ctx.restore();
  },
};

function verdictColor(row) {
  if (row.combined) return color("accent");
  if (row.verdict === "faster" || row.verdict === "useful") return color("good");
  return ["slower", "different-training", "failed"].includes(row.verdict) ? color("bad") : color("soft");
}

// Dots with whiskers. `rows` have name, x, ci95 and shade, a function, since colors follow the theme; `label` is the
// axis's; no dot is left of `least`; `band` is shaded.
function dotChart({ id, label, said, rows, least = -Infinity, band = [1, 1] }) {
  const ends = rows.flatMap((row) => row.ci95 || [row.x]).concat([1]);
  const room = (Math.max(...ends) - Math.min(...ends)) * 0.06 + 0.01;
  const cut = (name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);
  const shades = () => rows.map((row) => row.shade());
  return chart(id, 64 + 30 * rows.length, said, () => ({
    type: "scatter",
    data: {
      datasets: [{
        label, pointRadius: 5, pointHoverRadius: 7,
        data: rows.map((row, index) => ({ x: row.x, y: index, ci95: row.ci95, color: row.shade(), name: row.name })),
        pointBackgroundColor: shades(), pointBorderColor: shades(),
      }],
    },
    plugins: [whiskers],
    options: {
      scales: {
        x: axis(label, {
          min: Math.max(least, Math.min(...ends) - room), max: Math.max(...ends) + room,
          ticks: { color: color("soft"), includeBounds: false, callback: (value) => `${value.toFixed(2)}x` },
        }),
        y: axis("", {
          min: -0.6, max: rows.length - 0.4, reverse: true, grid: { display: false },
          afterBuildTicks: (scale) => { scale.ticks = rows.map((_, index) => ({ value: index })); },
          ticks: { color: color("ink"), autoSkip: false, callback: (value) => cut(rows[value].name) },
        }),
      },
      plugins: {
        legend: { display: false },
        whiskers: { band, bandColor: color("band"), lineColor: color("soft") },
        tooltip: {
          callbacks: {
            label: ({ raw }) => `${raw.name}: ${speedup(raw.x)}${raw.ci95 ? ` [${raw.ci95.map((end) => end.toFixed(2)).join(", ")}]` : ""}`,
          },
        },
      },
    },
  }));
}

function speedupChart() {
  const rows = speedupRows().map((row) => ({ name: row.name, x: row.speedup, ci95: row.ci95, shade: () => verdictColor(row) }));
  const margin = Math.max(...report.trials.map((trial) => trial.margin_pct || 0), 0) / 100;
  const said = `Measured speedups with 95 % intervals: ${rows.map((row) => `${row.name} ${speedup(row.x)}`).join(", ")}.`;
  return dotChart({ id: "speedups", label: "speedup; the shaded band counts as no difference", said, rows, band: [1 / (1 + margin), 1 + margin] });
}

function lossesOf(trial) {
  return trial.loss && (trial.loss.baseline.some(known) || trial.loss.treated.some(known));
}

// One trial's losses; `chosen` tells which.
function lossChart(chosen) {
  return chart("losses", 240, "Losses of the baseline and of the treated program, by step. The table has the same numbers.", () => {
    const loss = chosen().loss;
    const points = (values) => values.map((y, x) => ({ x: x + 1, y }));
    const set = (label, values, shade, dash, width, order) => ({
      label, data: points(values), borderColor: shade, backgroundColor: shade, borderDash: dash, borderWidth: width, order,
      pointRadius: 0, pointStyle: "line",
    });
    return {
      type: "line",
      data: {
        datasets: [set("baseline", loss.baseline, color("soft"), [], 5, 1), set("treated", loss.treated, color("accent"), [6, 4], 2, 0)],
      },
      options: {
        scales: { x: axis("step", { type: "linear", min: 1, max: Math.max(loss.baseline.length, loss.treated.length), ticks: { color: color("soft"), precision: 0 } }), y: axis("loss") },
        plugins: { legend: { labels: { color: color("ink"), usePointStyle: true, pointStyleWidth: 32 } } },
      },
    };
  });
}
