// Where the time goes by line: parts of a step above the lines in them, as wide as they take long; then all in a table.
const lineColors = { ...partColors, loading: partColors.loader_wait };

function block(text, ms, whole, colour, ...inside) {
  const share = `${duration(ms)}, ${percent((100 * ms) / whole)}`;
  return element("div", { class: "block", style: `flex-grow:${ms};border-top-color:${colour}`, title: `${text}: ${share}` },
    element("div", { class: "block-text" }, text), element("div", { class: "block-text soft" }, share),
    inside.length ? element("div", { class: "icicle" }, inside) : null);
}

// Blocks under 1 % of the whole would not be seen: they are in the table.
function icicle(rows) {
  const whole = rows.reduce((sum, row) => sum + row.ms, 0);
  const phases = [...new Set(rows.map((row) => row.phase))].map((phase) => {
    const own = rows.filter((row) => row.phase === phase);
    return { phase, own, ms: own.reduce((sum, row) => sum + row.ms, 0) };
  }).filter((one) => one.ms >= whole / 100).sort((a, b) => b.ms - a.ms);
  return element("div", { class: "icicle outer", "aria-hidden": "true" }, phases.map(({ phase, own, ms }) =>
    block(spaced(phase), ms, whole, lineColors[phase] || "var(--soft)",
      ...own.filter((row) => row.ms >= whole / 100).map((row) => block(row.place, row.ms, whole, lineColors[phase] || "var(--soft)")))));
}

// Without parts where all rows have the same one.
function linesTable(caption, rows) {
  const parted = new Set(rows.map((row) => row.phase)).size > 1;
  const heads = ["line", "time#", "share#", ...(parted ? ["part"] : []), "source"];
  return table(caption, heads, rows.map((row) => [
    element("span", { class: "path" }, row.place), duration(row.ms), percent(row.share), ...(parted ? [spaced(row.phase)] : []),
    row.code ? element("code", { class: "source" }, row.code) : ""]));
}

// Operators beside what their shapes need, the furthest above it first.
function headroomTable(rows) {
  return table("By line, forward and backward together, per step; those with most above what they need first",
    ["line", "time#", "needs#", "source"],
    rows.map((row) => [element("span", { class: "path" }, row.place), duration(row.ms), row.floor === null ? "unknown" : duration(row.floor),
      row.code ? element("code", { class: "source" }, row.code) : ""]));
}

function linesSection() {
  const parts = [];
  if (words.lines.length) parts.push(element("h3", {}, "A step"), icicle(words.lines), linesTable("The lines of an average step; they sum to it", words.lines));
  if (words.headroom.length) parts.push(element("h3", {}, "Operators, and what their shapes need on this machine"), headroomTable(words.headroom));
  if (words.worker_lines.length) parts.push(element("h3", {}, "A loader's worker"), linesTable("The lines of a worker, per batch", words.worker_lines));
  if (words.whole.length) {
    parts.push(element("h3", {}, "The run"), table("The run, as far as it was seen", ["part", "time#", "share#"],
      words.whole.map((row) => [row.name, duration(row.ms), percent(row.share)])));
  }
  if (words.whole_lines.length) parts.push(linesTable("What an epoch's start and an evaluation are spent on, each", words.whole_lines));
  return parts.length ? parts : null;
}
