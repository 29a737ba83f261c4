// A gate: the verdict of each workload, the pairs behind it, and what its counters did.

// The candidate's step time over the other's in each pair, in the order of launch.
function pairRatios(launches) {
  const pairs = [];
  for (const launch of launches) (pairs[launch.block] ??= {})[launch.arm] = launch.ms_per_step;
  return pairs.flatMap((pair, block) => (pair && known(pair.A) && known(pair.B) ? [{ x: block + 1, y: 100 * (pair.B / pair.A - 1) }] : []));
}

function pairsChart(workload, index, limit) {
  const points = pairRatios(workload.launches);
  if (!points.length) return [];
  const slower = points.filter((point) => point.y > 0).length;
  const level = (label, y, shade, dash) => ({ label, type: "line", data: [{ x: 0.5, y }, { x: points.length + 0.5, y }], borderColor: color(shade),
    backgroundColor: color(shade), borderDash: dash, borderWidth: 2, pointRadius: 0 });
  return [chart(`pairs-${index}`, 220, `Slowdown of each of ${points.length} pairs in percent; the candidate was slower in ${slower}.`, () => ({
    type: "scatter",
    data: { datasets: [
      { label: "one pair", data: points, backgroundColor: color("accent"), pointRadius: 4 },
      level("no change", 0, "soft", []), level(`limit, ${Number(limit.toPrecision(3))} %`, limit, "bad", [6, 4]),
    ] },
    options: {
      scales: { x: axis("pair", { min: 0.5, max: points.length + 0.5, ticks: { color: color("soft"), precision: 0, stepSize: 1 } }), y: axis("candidate slower by, %", {}) },
      plugins: { legend: { labels: { color: color("ink"), boxWidth: 14 } }, tooltip: { callbacks: { label: (item) => `pair ${item.raw.x}: ${item.raw.y.toFixed(1)} %` } } },
    },
  }))];
}

// How the evidence grew, on a logarithmic scale: what it fails or passes from are levels.
function evidenceChart(workload, index) {
  const { time } = workload;
  if (!time?.evidence?.length || !time.fails_from) return [];
  const of = (key) => time.evidence.map((one, pair) => ({ x: pair + 1, y: Math.max(one[key] ?? 1, 1e-3) }));
  const line = (label, data, shade, more = {}) => ({ label, data, borderColor: color(shade), backgroundColor: color(shade), borderWidth: 2, pointRadius: 2, ...more });
  const level = (label, y, shade) => line(label, [{ x: 1, y }, { x: time.evidence.length, y }], shade, { borderDash: [6, 4], pointRadius: 0 });
  const last = time.evidence.at(-1);
  return [chart(`evidence-${index}`, 220, `Evidence after each of ${time.evidence.length} pairs: ${Number((last.slower ?? 1).toPrecision(3))} that it is slower, ${Number((last.under_limit ?? 1).toPrecision(3))} that it is under the limit.`, () => ({
    type: "line",
    data: { datasets: [
      line("slower", of("slower"), "bad"), line("under the limit", of("under_limit"), "good"),
      level(`fails from ${time.fails_from}`, time.fails_from, "bad"), level(`passes from ${time.passes_from}`, time.passes_from, "good"),
    ] },
    options: {
      scales: { x: axis("pair", { type: "linear", ticks: { color: color("soft"), precision: 0, stepSize: 1 } }), y: axis("evidence", { type: "logarithmic" }) },
      plugins: { legend: { labels: { color: color("ink"), boxWidth: 14 } } },
    },
  }))];
}

function gateTime(workload, said, limit) {
  const { time } = workload;
  if (!time) return [element("p", {}, `Step time: ${said.time}.`)];
  const share = (value) => (known(value) ? percent(100 * value) : "unknown");
  return [table("Step time of the candidate, over all pairs", ["slower by#", "at most, with 95 % confidence#", "allowed#", "pairs#"],
    [[share(time.slowdown), share(time.upper95), percent(limit), `${time.pairs}`]]), element("p", { class: "soft" }, `${said.time}.`)];
}

function gateCounters(said) {
  const rows = said.counters.map((one) => [element("span", { class: one.fails ? "bad" : null }, one.text), one.fails ? "not allowed" : "",
    one.places.map((place) => element("div", { class: "path" }, place))]);
  return [element("p", {}, `Counters: ${said.compared}.`), rows.length ? table("Counters that differ", ["counter", "verdict", "where"], rows) : []];
}

function gateSection() {
  const { gate } = report;
  if (!gate) return null;
  const limit = 100 * gate.max_slowdown, kinds = { pass: "good", fail: "bad" };
  return gate.workloads.map((workload, index) => {
    const said = words.gate[index];
    return [element("p", {}, element("strong", { class: kinds[workload.verdict] ?? null }, said.verdict)),
      element("p", {}, element("code", {}, workload.command), " against ", element("code", {}, workload.against), "."),
      gateTime(workload, said, limit), pairsChart(workload, index, limit), evidenceChart(workload, index), gateCounters(said),
      workload.notes.map((note) => element("p", { class: "soft" }, note))].flat(2);
  });
}
