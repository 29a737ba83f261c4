// A sweep's grid, and times to a target.
function cellName(cell) {
  return cell.values.length ? cell.values.map((value, axis) => `${report.sweep.axes[axis].key}=${value}`).join(", ") : "the program as it is";
}

function gridSection() {
  const { sweep } = report;
  if (!sweep) return null;
  const measured = sweep.cells.filter((cell) => known(cell.ratio));
  const shade = (cell) => color(cell.verdict === "best" ? "good" : cell.own ? "accent" : "soft");
  const rows = measured.map((cell) => ({ name: cellName(cell), x: cell.ratio, ci95: cell.ci95, shade: () => shade(cell) }));
  const said = `Time of each cell over the quickest one's: ${rows.map((row) => `${row.name} ${speedup(row.x)}`).join("; ")}.`;
  const unit = sweep.metric === "sample-time" ? "per sample" : "per step", published = sweep.cells.some((cell) => known(cell.published_s));
  const note = (cell) => [cell.verdict === "measured" ? "" : spaced(cell.verdict.replace("-", " ")), cell.reason, cell.own && cell.values.length ? "the program's own" : ""].filter(Boolean).join(": ");
  const cells = sweep.cells.map((cell) => [cellName(cell), known(cell.ms) ? duration(cell.ms) : "–", known(cell.samples_per_s) ? digits(cell.samples_per_s) : "–",
    known(cell.ratio) ? speedup(cell.ratio) : "–", cell.ci95 ? cell.ci95.map((end) => end.toFixed(2)).join(" – ") : "–", `${cell.n}`,
    ...(published ? [known(cell.published_s) ? `${cell.published_s.toFixed(2)} s` : "–"] : []), note(cell)]);
  const fresh = sweep.comparisons.map((one) => [cellName(sweep.cells[one.cell]), speedup(one.speedup), one.ci95 ? one.ci95.map((end) => end.toFixed(2)).join(" – ") : "–",
    `${one.n}`, known(one.p_holm) ? one.p_holm.toPrecision(2) : "–", [spaced(one.verdict), one.reason ? `: ${one.reason}` : ""]]);
  return [element("p", {}, `${sentence(sweep.verdict)}.`), sweep.loader_only ? element("p", {}, "The loader alone: batches were loaded and not trained on.") : null,
    rows.length ? dotChart({ id: "grid-chart", label: "time over the quickest cell's", said, rows, least: 0 }) : null,
    table("Every cell, medians", ["cell", `${unit}#`, "samples/s#", "over the best#", "95 % interval#", "launches#", ...(published ? ["published#"] : []), "note"], cells),
    fresh.length ? table("The quickest cell against its neighbours, on fresh launches", ["against", "speedup#", "95 % interval#", "blocks#", "Holm p#", "verdict"], fresh) : null,
    sweep.notes.map((text) => element("p", { class: "soft" }, text))];
}

function targetSection() {
  const { target } = report;
  if (!target) return null;
  const end = (number) => (known(number) ? number.toFixed(2) : "open"), ratio = (one) => [known(one.estimate) ? speedup(one.estimate) : "–", known(one.low) || known(one.high) ? `${end(one.low)} – ${end(one.high)}` : "–"];
  const number = (value) => (known(value) ? `${Number(value.toPrecision(4))}` : "–");
  const arms = target.arms.map((arm) => [arm.name, `${arm.reached} of ${arm.runs.length}`, known(arm.median_s) ? duration(1000 * arm.median_s) : "censored", number(arm.median_steps), number(arm.median_samples)]);
  const compared = target.comparisons.map((one) => [one.name, ...ratio(one.seconds), ...ratio(one.steps), `${one.n}`]);
  const runs = target.arms.flatMap((arm) => arm.runs.map((run) => [`${arm.name}, seed ${run.block + 1}`, run.reached ? duration(1000 * run.seconds) : "censored", number(run.steps), number(run.last), run.status]));
  return [element("p", {}, `${target.metric} ${target.at_least ? "≥" : "≤"} ${target.value}, within ${duration(1000 * target.limit_s)}, read from ${target.source === "marks" ? "the program's marks" : "its output"}.`),
    table("Who reached it", ["arm", "reached#", "median time#", "median steps#", "median samples#"], arms),
    compared.length ? table("Against the baseline, above 1 is better", ["arm", "in time#", "95 % interval#", "in steps#", "95 % interval of steps#", "seeds#"], compared) : null,
    element("details", {}, element("summary", {}, "Every run"), table("Runs", ["run", "time#", "steps#", "came to#", "what became of it"], runs))];
}
