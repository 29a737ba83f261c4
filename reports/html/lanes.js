// The timeline of one step: lanes of bars on a canvas, to zoom and to hover over.
const kRow = 17, kLaneGap = 10, kRuler = 24;

// Bars of a row from their numbers; see the data's RowJson.
function barsOf(numbers) {
  const bars = [];
  let end = 0;
  for (let at = 0; at < numbers.length; at += 5) {
    const start = end + numbers[at];
    end = start + numbers[at + 1];
    bars.push({ start, end, name: numbers[at + 2], count: numbers[at + 3], place: numbers[at + 4] });
  }
  return bars;
}

// The last of `bars` (by start) that starts at or before `time`; -1 when none does.
function barBefore(bars, time) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bars[middle].start <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function hue(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return hash % 360;
}

class Lanes {
  constructor(canvas, tip) {
    this.canvas = canvas;
    this.tip = tip;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => { this.held = null; });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(view) {
    this.view = view;
    this.hues = [];
    let top = kRuler;
    this.lanes = view.lanes.map((lane) => {
      const rows = lane.rows.map(barsOf), from = top;
      top += Math.max(rows.length, 1) * kRow + kLaneGap;
      return { ...lane, rows, top: from };
    });
    this.canvas.style.height = `${top}px`;
    this.height = top;
    this.reset();
  }

  // What is seen: [from, to] in the data's unit of time.
  reset() {
    this.from = 0;
    this.to = this.view.length;
    this.draw();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    const least = Math.min(20, this.view.length);
    const span = Math.min(Math.max((this.to - this.from) * factor, least), this.view.length);
    const share = (around - this.from) / (this.to - this.from);
    this.place(around - share * span, span);
  }

  pan(by) {
    this.place(this.from + by, this.to - this.from);
  }

  place(from, span) {
    this.from = Math.min(Math.max(from, 0), this.view.length - span);
    this.to = this.from + span;
    this.draw();
  }

  get gutter() { return this.canvas.clientWidth < 560 ? 84 : 172; }
  x(time) { return this.gutter + ((time - this.from) / (this.to - this.from)) * (this.canvas.clientWidth - this.gutter); }
  time(x) { return this.from + ((x - this.gutter) / (this.canvas.clientWidth - this.gutter)) * (this.to - this.from); }

  draw() {
    const { canvas } = this, width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (!this.view || !width) return;
    canvas.width = width * scale;
    canvas.height = this.height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = `12px ${Chart.defaults.font.family}`;
    context.textBaseline = "middle";
    this.colors = { ink: color("ink"), soft: color("soft"), line: color("line"), bar: color("bar-ink"), paper: color("paper"),
      lightness: color("bar-lightness"), saturation: color("bar-saturation") };
    this.drawRuler(context, width);
    for (const lane of this.lanes) this.drawLane(context, lane, width);
  }

  drawRuler(context, width) {
    const span = (this.to - this.from) * data.timeline.unit_ms, wanted = span / Math.max((width - this.gutter) / 110, 1);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const tick = power * ([1, 2, 5].find((step) => step * power >= wanted) || 10);
    context.fillStyle = this.colors.soft;
    context.strokeStyle = this.colors.line;
    const first = Math.ceil((this.from * data.timeline.unit_ms) / tick);
    for (let index = first; index * tick <= this.to * data.timeline.unit_ms; ++index) {
      const x = this.x((index * tick) / data.timeline.unit_ms);
      context.beginPath();
      context.moveTo(x, kRuler - 6);
      context.lineTo(x, this.height);
      context.stroke();
      const text = index === 0 ? "0" : duration(index * tick);
      if (x + context.measureText(text).width + 4 < width) context.fillText(text, x + 3, kRuler / 2);
    }
  }

  drawLane(context, lane, width) {
    context.save();
    context.beginPath();
    context.rect(0, lane.top, this.gutter - 6, this.height);
    context.clip();
    context.fillStyle = this.colors.ink;
    context.fillText(lane.title, 6, lane.top + kRow / 2);
    context.restore();
    context.save();
    context.beginPath();
    context.rect(this.gutter, 0, width - this.gutter, this.height);
    context.clip();
    lane.rows.forEach((row, depth) => {
      // Bars within the half pixel that is drawn already would only be painted over it.
      const least = (this.to - this.from) / Math.max(width - this.gutter, 1) / 2;
      let drawn = -1;
      for (let index = Math.max(barBefore(row, this.from), 0); index < row.length && row[index].start < this.to; ++index) {
        if (row[index].end < drawn + least) continue;
        drawn = row[index].end;
        this.drawBar(context, lane, row[index], lane.top + depth * kRow);
      }
    });
    context.restore();
  }

  drawBar(context, lane, bar, y) {
    const left = this.x(bar.start), wide = Math.max(this.x(bar.end) - left, 0.7), part = lane.kind === "step";
    const name = this.nameOf(lane, bar);
    context.fillStyle = part ? partColors[partNames[bar.name]] : this.shade(bar.name);
    context.fillRect(left, y, Math.max(wide - (wide > 3 ? 0.7 : 0), 0.7), kRow - 2);
    if (wide < 34) return;
    context.save();
    context.beginPath();
    context.rect(left, y, wide - 3, kRow);
    context.clip();
    context.fillStyle = part ? (["forward", "optimizer", "sync_wait"].includes(partNames[bar.name]) ? "#ffffff" : "#111111") : this.colors.bar;
    context.fillText(name, Math.max(left, this.gutter) + 4, y + kRow / 2 - 1);
    context.restore();
  }

  // The colour of a name of this view.
  shade(name) {
    const { saturation, lightness } = this.colors;
    this.hues[name] ??= hue(this.view.names[name] || "?");
    return `hsl(${this.hues[name]} ${saturation} ${lightness})`;
  }

  nameOf(lane, bar) {
    return lane.kind === "step" ? spaced(partNames[bar.name]) : this.view.names[bar.name] || "?";
  }

  // The bar under a point of the canvas, or null; those that share its pixel as one.
  at(x, y) {
    if (x < this.gutter) return null;
    const slack = (this.to - this.from) / Math.max(this.canvas.clientWidth, 1);
    for (const lane of this.lanes) {
      const row = lane.rows[Math.floor((y - lane.top) / kRow)];
      if (y < lane.top || !row) continue;
      const time = this.time(x), last = barBefore(row, time + slack);
      let first = last;
      while (first > 0 && row[first - 1].end + slack >= time) --first;
      if (last >= 0 && row[last].end + slack >= time) return { lane, bar: this.together(row.slice(first, last + 1), time, slack) };
    }
    return null;
  }

  together(bars, time, slack) {
    const wide = bars.find((bar) => bar.end - bar.start > 2 * slack && bar.start <= time && bar.end >= time);
    if (wide || bars.length === 1) return wide || bars[0];
    const longest = bars.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
    return { ...longest, start: bars[0].start, end: bars[bars.length - 1].end, count: bars.reduce((sum, bar) => sum + bar.count, 0), place: 0 };
  }

  describe({ lane, bar }) {
    const ms = (time) => duration(time * data.timeline.unit_ms);
    const lines = [this.nameOf(lane, bar), `${ms(bar.end - bar.start)}, from ${ms(bar.start)} of the step`];
    if (bar.count > 1) lines[0] = `${bar.count} short events, the longest: ${lines[0]}`;
    if (bar.place) lines.push(this.view.places[bar.place]);
    return lines;
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.time(event.offsetX));
  }

  grab(event) {
    this.held = { x: event.clientX, y: event.clientY };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (this.held) {
      const perPixel = (this.to - this.from) / (this.canvas.clientWidth - this.gutter);
      this.pan((this.held.x - event.clientX) * perPixel);
      if (event.pointerType === "mouse") this.canvas.parentElement.scrollTop += this.held.y - event.clientY;
      this.held = { x: event.clientX, y: event.clientY };
    }
    const found = this.held ? null : this.at(event.offsetX, event.offsetY);
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.replaceChildren(...this.describe(found).map((line) => element("div", {}, line)));
    const left = Math.min(event.clientX + 14, window.innerWidth - this.tip.offsetWidth - 8);
    const below = event.clientY + 18, above = event.clientY - this.tip.offsetHeight - 12;
    this.tip.style.left = `${Math.max(left, 4)}px`;
    this.tip.style.top = `${below + this.tip.offsetHeight > window.innerHeight ? above : below}px`;
  }

  key(event) {
    const span = this.to - this.from;
    const acts = {
      "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), 0: () => this.reset(),
      ArrowLeft: () => this.pan(-span / 8), ArrowRight: () => this.pan(span / 8),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }
}
