// Puts the page together.
const page = { lanes: null };

// Id, heading, what the way to it is called, what makes it.
const sections = [
  ["summary", "Summary", "", summarySection], ["gate", "Gate", "Gate", gateSection],
  ["compare", "What changed", "Changes", compareSection],
  ["grid", "The grid", "Grid", gridSection], ["fixes", "What each fix was measured to bring", "Fixes", fixesSection], ["target", "Time to the target", "Target", targetSection], ["findings", "What slows it", "Findings", findingsSection],
  ["step", "A training step", "Step", stepSection], ["lines", "Where the time goes", "Lines", linesSection], ["time", "Timeline of a step", "Timeline", timelineSection],
  ["trust", "How far to trust this", "Trust", trustSection], ["environment", "Environment", "Environment", environmentSection],
];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").setAttribute("aria-pressed", `${theme === "dark"}`);
  drawCharts();
  if (page.lanes) page.lanes.draw();
}

function build() {
  const main = document.getElementById("main"), nav = document.getElementById("sections");
  for (const [id, title, short, make] of sections) {
    const parts = make();
    if (!parts) continue;
    const heading = id === "summary" ? null : element("h2", { id: `${id}-title` }, title);
    main.append(element("section", { id, ...(heading ? { "aria-labelledby": `${id}-title` } : { "aria-label": title }) }, heading, ...parts.flat(2)));
    if (heading) nav.append(element("a", { href: `#${id}` }, short));
  }
  document.getElementById("footer").append("Made by Loopscope. Charts: Chart.js, MIT License.");
}

build();
const system = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
document.getElementById("theme").addEventListener("click", () => {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme(chosenTheme);
});
system.addEventListener("change", () => { if (!chosenTheme) setTheme(system.matches ? "dark" : "light"); });

// On paper: light, and nothing folded away.
let before = null;
window.addEventListener("beforeprint", () => {
  before = { theme: document.documentElement.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
  before.closed.forEach((one) => { one.open = true; });
  setTheme("light");
});
window.addEventListener("afterprint", () => {
  before.closed.forEach((one) => { one.open = false; });
  setTheme(before.theme);
});
setTheme(document.documentElement.dataset.theme);
