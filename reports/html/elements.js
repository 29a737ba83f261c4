// The data, and what makes elements of it. Text becomes text nodes only: nothing in the data is read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report, words = data.words;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// `heads`: texts, a number column ends with "#". Rows: arrays of texts or elements. On a narrow screen the rows of wide
// tables stand as lists, each cell behind its column's name; the roles keep them a table to those who hear it.
function table(caption, heads, rows) {
  const numeric = heads.map((head) => head.endsWith("#"));
  const many = heads.length > 3, role = (name) => ({ role: many ? name : null }), names = heads.map((text) => text.replace(/#$/, ""));
  const kind = (index) => ({ class: numeric[index] ? "number" : null, "data-head": many && index > 0 ? names[index] : null });
  const head = names.map((text, index) => element("th", { scope: "col", class: numeric[index] ? "number" : null, ...role("columnheader") }, text));
  const body = rows.map((row) => element("tr", role("row"), row.map((cell, index) =>
    index === 0 ? element("th", { scope: "row", ...kind(0), ...role("rowheader") }, cell) : element("td", { ...kind(index), ...role("cell") }, cell))));
  return element("div", { class: "wide" }, element("table", { class: many ? "many" : null, ...role("table") }, element("caption", {}, caption),
    element("thead", role("rowgroup"), element("tr", role("row"), head)), element("tbody", role("rowgroup"), body)));
}

function known(number) {
  return typeof number === "number" && Number.isFinite(number);
}

function digits(number) {
  const size = Math.abs(number);
  if (size >= 1e6) return number.toPrecision(3);
  return number.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// "12.3 ms": three digits, in the unit that suits.
function duration(ms) {
  if (!known(ms)) return "?";
  if (ms === 0) return "0 ms";
  const units = [[3.6e6, "h"], [6e4, "min"], [1e3, "s"], [1, "ms"], [1e-3, "µs"], [1e-6, "ns"]];
  const [size, unit] = units.find(([least]) => Math.abs(ms) >= least * 0.9995) || units[units.length - 1];
  return `${digits(ms / size)} ${unit}`;
}

function percent(number) {
  return known(number) ? `${number.toFixed(Math.abs(number) < 9.95 ? 1 : 0)} %` : "?";
}

function speedup(number) {
  return known(number) ? `${number.toFixed(2)}x` : "–";
}

function spaced(name) {
  return name.replace(/_/g, " ");
}

// One colour of the style sheet.
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// The parts of a step, told apart with any kind of colour vision (Okabe and Ito's palette).
const partColors = {
  loader_wait: "#e69f00", h2d_copy: "#56b4e9", forward: "#0072b2", backward: "#cc79a7",
  optimizer: "#009e73", sync_wait: "#d55e00", communication_exposed: "#b9a800", other: "#8a8f98",
};
const partNames = Object.keys(partColors);
