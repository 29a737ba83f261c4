// The findings, each with its evidence, the source line, what to write instead and what that was measured to bring.
function codeLines(quote) {
  return element("pre", { tabindex: "0", role: "group", "aria-label": `Source around line ${quote.line}` }, quote.lines.map((text, index) => {
    const number = quote.first + index, marked = number === quote.line;
    return element("span", { class: marked ? "code marked" : "code" }, element("span", { class: "number" }, `${number}`), text || " ",
      marked ? element("span", { class: "skip" }, " (this line)") : null);
  }));
}

function place(one) {
  const head = one.where ? [element("span", { class: "path" }, one.where), one.text ? `: ${one.text}` : ""] : [one.text];
  return element("li", {}, head, one.quote ? codeLines(one.quote) : null,
    one.why_not ? element("div", { class: "soft" }, `Not quoted: ${one.why_not}.`) : null);
}

function exampleCode(example) {
  const lines = (texts, sign, kind, said) => texts.map((text) =>
    element("span", { class: `code ${kind}` }, element("span", { class: "number", "aria-label": said }, sign), text || " "));
  return element("div", {}, element("div", { class: "soft" }, example.own ? `This line, and what takes its place, by an example in ${example.language}:`
    : `In ${example.language}${example.before.length ? ", before and after" : ""}:`),
    element("pre", { tabindex: "0", role: "group", "aria-label": `Change in ${example.language}` },
      lines(example.before, "−", "removed", "before"), lines(example.after, "+", "added", "after")));
}

// What became of this finding's treatment; empty while it was not tried.
function triedFor(finding) {
  return report.trials.map((trial, index) => ({ trial, text: words.trials[index] }))
    .filter(({ trial }) => trial.rules.includes(finding.rule))
    .map(({ trial, text }) => known(trial.speedup)
      ? element("div", {}, "Measured, ", element("code", {}, text.name), ": ",
        element("span", { class: trial.verdict === "faster" ? "good" : "" }, text.speedup), `; ${text.verdict}.`)
      : element("div", {}, "Tried, ", element("code", {}, text.name), `: ${text.verdict}.`));
}

// A fact that costs nothing on this machine: one line.
function factLine(finding, text, id) {
  const placed = text.places.find((one) => one.where);
  return element("article", { class: "finding info", "aria-labelledby": id },
    element("div", { id }, finding.title, placed ? [", at ", element("span", { class: "path" }, placed.where)] : "",
      " (", element("code", {}, finding.rule), ")"));
}

function findingCard(finding, index) {
  const text = words.findings[index], id = `finding-${index}`, tried = triedFor(finding);
  if (finding.severity === "info" && !text.cost && !tried.length) return factLine(finding, text, id);
  return element("article", { class: `finding ${finding.severity}`, "aria-labelledby": id },
    element("h3", { id }, finding.title),
    element("div", { class: "meta" }, element("span", { class: `badge ${finding.severity}` }, finding.severity),
      text.cost ? element("span", {}, `costs at most ${text.cost}`) : null,
      finding.per_epoch ? element("span", {}, "falls at epoch boundaries") : null,
      element("span", {}, "rule ", element("code", {}, finding.rule)),
      text.try && !tried.length ? element("span", {}, "try ", element("code", {}, text.try)) : null),
    tried,
    text.places.length ? element("ul", {}, text.places.map(place)) : null,
    finding.advice ? element("p", {}, element("strong", {}, "Fix: "), finding.advice) : null,
    text.example ? exampleCode(text.example) : null);
}

function findingsSection() {
  if (!report.findings.length && !report.rules.length) return null;  // nobody looked
  if (!report.findings.length) return [element("p", {}, "No rule found anything that costs this loop time.")];
  const cards = report.findings.map(findingCard);
  const search = element("input", { type: "search", id: "search", placeholder: "rule, file, text", size: "18" });
  const severities = ["high", "medium", "low", "info"].filter((one) => report.findings.some((finding) => finding.severity === one));
  const boxes = severities.map((one) => element("input", { type: "checkbox", value: one, checked: true, id: `show-${one}` }));
  const status = element("span", { role: "status", id: "shown", class: "soft" });
  const apply = () => {
    const wanted = search.value.trim().toLowerCase(), shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    cards.forEach((card, index) => {
      const fits = shown.has(report.findings[index].severity) && card.textContent.toLowerCase().includes(wanted);
      card.hidden = !fits;
      count += fits;
    });
    status.textContent = `${count} of ${cards.length} shown`;
  };
  for (const input of [search, ...boxes]) input.addEventListener("input", apply);
  apply();
  const tools = element("div", { class: "tools", role: "search" }, element("label", { for: "search" }, "Filter ", search),
    element("fieldset", {}, element("legend", {}, "Severity"), boxes.map((box) => element("label", {}, box, box.value))), status);
  return [element("p", { class: "soft" }, "Each cost is an upper bound on what fixing it can bring."), tools, cards];
}
