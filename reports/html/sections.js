// The other sections: what the headline says, a step, the fixes, trust, environment.
function fact(title, value, small) {
  return element("li", {}, element("span", { class: "soft" }, title), " ", element("strong", {}, value), small ? element("small", {}, ` ${small}`) : null);
}

function intervalText(row) {
  return row.ci95 ? `95 % interval ${row.ci95.map((end) => end.toFixed(2)).join(" to ")}, ${row.n} blocks` : "";
}

// A key that begins it, "loader.workers=2", stays as it is typed.
function sentence(text) {
  return /^\S*[.=]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

// The verdict of the workload that decides: one that failed, else one that could not be told, else any.
function decidingGate() {
  const rank = { fail: 0, inconclusive: 1, pass: 2 }, rows = report.gate.workloads;
  const order = rows.map((row, index) => [rank[row.verdict] ?? 1, index]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return words.gate[order[0][1]].verdict;
}

function headline() {
  const { combined } = report;
  if (report.sweep) return sentence(report.sweep.verdict);
  if (words.gate.length) return decidingGate();
  if (!words.gain) return sentence(words.limit);
  const fixes = combined.treatments.length;
  return `Measured: ${speedup(combined.speedup)} with ${fixes} ${fixes === 1 ? "fix" : "fixes together"}`;
}

function summarySection() {
  const { steps, noise } = report, facts = [];
  if (words.gain) facts.push(fact("Measured gain", speedup(report.combined.speedup), intervalText(report.combined)));
  if (known(steps.mean_ms)) facts.push(fact("A step takes", duration(steps.mean_ms), `p50 ${duration(steps.p50_ms)}, p95 ${duration(steps.p95_ms)}`));
  if (known(steps.samples_per_s)) facts.push(fact("Samples per second", digits(steps.samples_per_s)));
  if (report.findings.length) facts.push(fact("Findings", `${report.findings.length}`, `of ${report.rules.length} rules`));
  if (known(noise.detectable_pct)) facts.push(fact("Smallest effect detectable", percent(noise.detectable_pct), "at this noise"));
  return [
    element("h1", {}, headline()),
    words.gain ? element("p", { class: "limit" }, element("strong", {}, "What limits it: "), words.limit) : null,
    facts.length ? element("ul", { class: "facts" }, facts) : null,
    element("p", {}, element("code", {}, words.command)), element("p", { class: "soft" }, words.run),
    words.next.command ? element("p", {}, element("strong", {}, "Next: "), element("code", {}, words.next.command), ` ${words.next.what}.`) : null,
  ];
}

function stepSection() {
  if (report.sweep) return null;
  const parts = breakdownParts(), total = parts.reduce((sum, name) => sum + report.breakdown[name], 0);
  const rows = parts.map((name) => [
    [element("span", { class: "swatch", style: `background:${partColors[name]}`, "aria-hidden": "true" }), spaced(name)],
    duration(report.breakdown[name]), percent((100 * report.breakdown[name]) / total)]);
  const parted = parts.length ? [breakdownChart(), table("What the training thread spends a step on", ["part", "time#", "share#"], rows)] : [];
  const notes = [];
  if (report.breakdown.loader_wait === null && parts.length) notes.push("Waiting for the loader could not be seen: its time is in other parts.");
  if (known(report.steps.per_epoch_ms)) notes.push(`An epoch boundary takes ${duration(report.steps.per_epoch_ms)} more.`);
  const order = data.timeline ? [element("h3", {}, "Steps in order"), stepsChart(data.timeline.steps)] : [];
  notes.unshift(...[words.clock, words.trend].filter((text) => text));
  return [element("p", {}, words.step ? `A step takes ${words.step}.` : "No step could be measured."),
    element("div", { class: "columns" }, element("div", {}, parted, notes.map((note) => element("p", {}, note))), ...[order, gpuParts(), collectiveParts(), rankParts()].filter((one) => one.length).map((one) => element("div", {}, one)))];
}

// What changed since the run before, in a report of two runs.
function compareSection() {
  const { compare } = report;
  if (!compare) return null;
  const change = ({ before_ms: before, after_ms: after }) => (known(before) && known(after) && before > 0 ? `${after > before ? "+" : ""}${percent((100 * (after - before)) / before)}` : "–");
  const row = (name, one) => [name, known(one.before_ms) ? duration(one.before_ms) : "–", known(one.after_ms) ? duration(one.after_ms) : "–", change(one)];
  const rows = [row("step", compare.step), row("per sample", compare.sample),
    ...partNames.filter((name) => compare.parts[name].before_ms > 0 || compare.parts[name].after_ms > 0).map((name) => row(spaced(name), compare.parts[name]))];
  const list = (title, texts) => (texts.length ? [element("h3", {}, title), element("ul", {}, texts.map((text) => element("li", {}, text)))] : []);
  const named = (findings) => findings.map((one) => `${one.rule}: ${one.title}`);
  const count = (number) => `${Number(number.toPrecision(4))}`;
  const ops = compare.ops.map((op) => [element("span", { class: "path" }, op.name), op.on === "device" ? "GPU" : "CPU", op.change,
    duration(op.before_ms), duration(op.after_ms), `${count(op.before_count)} → ${count(op.after_count)}`]);
  return [element("p", {}, element("code", {}, compare.before), " against ", element("code", {}, compare.after), "."),
    list("Not comparable as they are", compare.obstacles), table("Mean over the steady steps", ["part", "before#", "after#", "change#"], rows),
    list("New findings", named(compare.new_findings)), list("Findings that are gone", named(compare.gone_findings)),
    element("h3", {}, "Ops and kernels"),
    ops.length ? table("Time of their own per step, for changes of 1 % of a step and more", ["operation", "on", "change", "before#", "after#", "times#"], ops)
      : element("p", {}, compare.why_no_ops ? `Not compared: ${compare.why_no_ops}.` : "None changed by 1 % of a step."),
    list("What else differs", compare.differences),
    element("p", { class: "soft" }, "One run each: a change may be noise. loopscope ab measures it with an interval.")];
}

// What the GPU did, where there was one. Times are over the window of steady steps.
function gpuParts() {
  const { gpu } = report;
  if (!gpu) return [];
  const perStep = (us) => `${duration(us / 1000 / Math.max(gpu.steps, 1))}${gpu.steps ? " per step" : ""}`;
  const rows = known(gpu.busy_pct) ? [["busy", percent(gpu.busy_pct), ""], ["idle", percent(gpu.idle_pct), perStep(gpu.idle_us)]] : [];
  for (const [cause, us] of Object.entries(gpu.idle_causes)) {
    if (known(us) && us > 0) rows.push([`idle because of ${spaced(cause)}`, percent((100 * us) / gpu.span_us), perStep(us)]);
  }
  for (const name of ["compute", "communication", "memory"]) {
    const us = gpu[`${name}_us`];
    if (known(us) && us > 0) rows.push([name, percent((100 * us) / gpu.span_us), perStep(us)]);
  }
  if (known(gpu.comm_overlap_pct)) rows.push(["communication covered by compute", percent(gpu.comm_overlap_pct), ""]);
  const missing = gpu.incomplete ? [element("p", {}, `How busy it was is not known: ${gpu.incomplete}. What is in the trace:`)] : [];
  return [element("h3", {}, "The GPU"), ...missing, table("What the GPU did in the steady steps", ["what", "share#", "time#"], rows)];
}

// What the rank exchanged with others, by group, kind and phase.
function collectiveParts() {
  if (!report.collectives.length) return [];
  const rows = report.collectives.map((row) => [`${row.operation} of group ${row.group}${known(row.ranks) ? `, ${row.ranks} ranks` : ""}`,
    row.phase ? spaced(row.phase) : "–", duration(row.ms), duration(row.exposed_ms), known(row.mbytes) ? `${row.mbytes.toFixed(1)} MB` : "–",
    known(row.bus_gbytes_per_s) ? `${row.bus_gbytes_per_s.toFixed(1)} GB/s` : "–", known(row.skew_ms) ? duration(row.skew_ms) : "–"]);
  return [element("h3", {}, "What it exchanges with other ranks"),
    table("Per step", ["collective", "phase", "time#", "exposed#", "message#", "bus#", "waits for the last rank#"], rows)];
}

// All ranks, the one that the others wait for on top.
function rankParts() {
  if (!report.per_rank.length) return [];
  const ranks = [...report.per_rank].sort((a, b) => (b.own_ms ?? 0) - (a.own_ms ?? 0));
  const nodes = ranks.some((one) => one.node !== ranks[0].node);
  const rows = ranks.map((one) => [`${one.rank}${one.shown ? " (shown)" : ""}`, ...(nodes ? [one.node ?? "–"] : []),
    ...[one.mean_ms, one.own_ms, one.communication_exposed_ms, one.loader_wait_ms].map((ms) => known(ms) ? duration(ms) : "–"),
    known(one.busy_pct) ? percent(one.busy_pct) : "–", one.input]);
  return [element("h3", {}, "The ranks"),
    table("Per step, by their own work", ["rank", ...(nodes ? ["machine"] : []), "step#", "own work#", "communication#", "loader wait#", "GPU busy#", "from"], rows)];
}

// Each fix once, however often it was tried.
function fixRow({ shown: index, other }) {
  const text = words.trials[index], trial = report.trials[index];
  const kind = { faster: "good", useful: "good", slower: "bad", failed: "bad", "different-training": "bad" }[trial.verdict];
  const shown = trial.verdict.replace(/-/g, " ");
  return [element("code", {}, text.name), known(trial.speedup) ? speedup(trial.speedup) : "–",
    trial.ci95 ? `${trial.ci95[0].toFixed(2)} – ${trial.ci95[1].toFixed(2)}` : "–", trial.n ? `${trial.n}` : "–",
    [element("span", { class: kind }, shown), text.verdict.startsWith(shown) ? text.verdict.slice(shown.length) : `: ${text.verdict}`,
      other ? element("div", { class: "soft" }, other) : null],
    text.checks];
}

function fixesSection() {
  if (!report.trials.length) return null;
  const parts = [];
  if (speedupRows().length) parts.push(speedupChart());
  parts.push(table("Every fix that was tried", ["fix", "speedup#", "95 % interval#", "blocks#", "verdict", "checks"], words.fixes.map(fixRow)));
  if (report.combined) {
    const what = known(report.combined.speedup) ? words.gain : `not measured: ${report.combined.reason}`;
    parts.push(element("p", {}, element("strong", {}, "Together: "), what, ". ", element("code", {}, report.combined.treatments.join(", "))));
  }
  parts.push(element("p", { class: "soft" }, "Intervals are 95 % each, unadjusted; p values are Holm's over all planned comparisons.",
    known(report.noise.pair_sd_pct) ? ` A pair of ${report.trials.some((one) => one.method === "live") ? "blocks of steps" : "launches"} differs by ${percent(report.noise.pair_sd_pct)} (standard deviation).` : ""));
  return [...parts, ...lossParts()];
}

function lossParts() {
  const trials = report.trials.map((trial, index) => ({ ...trial, name: words.trials[index].name })).filter(lossesOf);
  if (!trials.length) return [];
  const choice = element("select", { id: "loss-of" }, trials.map((trial, index) => element("option", { value: index }, `${trial.name}, ${trial.context}`)));
  const chosen = () => trials[Number(choice.value)], verdict = element("p", { role: "status" }), numbers = element("div", {});
  const tell = () => {
    const loss = chosen().loss, value = (number) => (known(number) ? number.toPrecision(7) : "–");
    verdict.textContent = `Training: ${loss.verdict}.`;
    numbers.replaceChildren(table("Losses", ["step", "baseline#", "treated#"],
      loss.baseline.map((baseline, step) => [`${step + 1}`, value(baseline), value(loss.treated[step])])));
  };
  choice.addEventListener("input", () => { tell(); drawCharts(); });
  tell();
  return [element("h3", {}, "Is it still the same training?"), element("div", { class: "tools" }, element("label", {}, "Losses of ", choice)), verdict,
    lossChart(chosen), element("details", {}, element("summary", {}, "The losses as a table"), numbers)];
}

function timelineSection() {
  if (!data.timeline) return null;
  const canvas = element("canvas", { id: "timeline", tabindex: "0", role: "application",
    "aria-label": "Timeline of a step. Plus and minus zoom, arrow keys move, 0 shows all. The table below has the longest operations." });
  const tip = element("div", { class: "tip", id: "tip", hidden: true }), below = element("div", {});
  const lanes = new Lanes(canvas, tip);
  const show = (view) => {
    lanes.show(view);
    const rows = view.longest.map((op) => [element("span", { class: "path" }, view.names[op.name]), `${op.count}`, duration(op.self_ms)]);
    below.replaceChildren(
      view.lanes_left_out ? element("p", {}, `${view.lanes_left_out} more threads or streams did less in this step and are not drawn.`) : "",
      element("details", {}, element("summary", {}, "The longest operations of this step as a table"),
        table(`${view.title}, step ${view.step + 1}: time of its own, all host threads`, ["operation", "times#", "own time#"], rows)));
  };
  const choices = data.timeline.views.map((view, index) => {
    const input = element("input", { type: "radio", name: "view", value: index, checked: index === 0 });
    input.addEventListener("input", () => show(view));
    return element("label", {}, input, `${view.title} (${duration(view.length * data.timeline.unit_ms)})`);
  });
  const button = (text, label, act) => {
    const made = element("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", act);
    return made;
  };
  page.lanes = lanes;
  show(data.timeline.views[0]);
  return [element("div", { class: "tools" }, element("fieldset", {}, element("legend", {}, "Show"), choices),
    element("div", {}, button("+", "Zoom in", () => lanes.zoom(0.6)), " ", button("−", "Zoom out", () => lanes.zoom(1 / 0.6)), " ", button("All", "Show the whole step", () => lanes.reset()))),
    element("div", { class: "lanes", tabindex: "-1" }, canvas), tip,
    element("p", { class: "soft lanes-hint" }, "Click into it, then zoom with the wheel or + and −, move with the mouse or the arrow keys; elsewhere Ctrl and the wheel zoom. What is too short to show apart is joined; zooming parts it."), below];
}

function trustSection() {
  const verdicts = { found: "found", clear: "not found", "cannot-tell": "cannot tell", "not-applicable": "not applicable" };
  if (!report.rules.length && !report.quality.events && !report.quality.warnings.length) return null;  // nothing was traced
  return [report.quality.events || report.rules.length ? element("p", {}, `${words.quality}.`) : null, report.quality.warnings.map((text) => element("p", { class: "warning" }, text)),
    report.rules.length ? table("Every rule and what it says", ["rule", "verdict", "reason"],
      report.rules.map((rule) => [element("code", {}, rule.id), verdicts[rule.verdict] || rule.verdict, rule.reason])) : null];
}

function environmentSection() {
  const { run } = report, rows = [];
  const add = (name, value) => { if (value !== null && value !== "" && value !== undefined) rows.push([name, `${value}`]); };
  add("command", words.command); add("working directory", run.working_directory); add("started", run.started); add("trace", run.source);
  add("CPU", run.host.cpu); add("cores", run.host.cores); run.host.gpus.forEach((gpu) => add("GPU", gpu)); add("ranks", run.ranks);
  add("treatment", run.treatment); add("exit status", run.exit_status);
  for (const [name, version] of Object.entries(run.versions)) add(name, version);
  for (const [name, value] of Object.entries(run.environment)) add(name, value);
  const grid = report.sweep ? `sweep ${report.sweep.axes.map((one) => `${one.key}=${one.values.join(",")}`).join(" ")}${report.sweep.loader_only ? " --loader-only" : ""}` : "";
  const again = [`loopscope ${grid || (report.trials.length ? "prove" : "run")} -- ${words.command}`];
  if (report.output_directory) again.push(`loopscope report ${report.output_directory}`);
  return [element("h3", {}, "To reproduce"), element("pre", { tabindex: "0" }, again.map((line) => element("span", { class: "code" }, line))),
    report.plan.length ? element("details", {}, element("summary", {}, "The experiment's plan"), element("ul", {}, report.plan.map((line) => element("li", {}, line)))) : null,
    table("Where this ran", ["what", "value"], rows)];
}
