# SPDX-License-Identifier: LGPL-2.1-or-later
"""show.py - the table of a run as text, as Markdown, and as a plot with the curves of "scaling" below it"""
import math


def number(value):
    """small numbers with three digits, large ones without a fraction"""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def share(value):
    """a ratio with three digits, or with a tenth of a percent if it is near 1"""
    return f"{value:.3f}" if 0.9 < value < 1.1 else f"{value:.3g}"


def figure(row, value):
    return "-" if value is None else f"{'+' if row.added else ''}{number(value)} {row.unit}"


def bound(row, value, sign=""):
    """a bar or a limit: a ratio, or a figure with its unit"""
    return "" if value is None else sign + (f"{value:.3g} {row.unit}" if row.ratio is None else f"{value:.3g}" if sign else share(value))


def limits(row):
    """the limit, with the way that it was measured, and the noise"""
    words = [] if row.limit is None else [f"{bound(row, row.limit)} {row.limit_of}"]
    return "; ".join(words + ([] if row.noise is None else [f"{share(row.noise)} not traced either"]))


def cells(row):
    """the cells of a row as text: what, ours, peer, ratio, spread, bar, limit"""
    return [row.what, figure(row, row.ours), f"{row.peer}: {row.note}" if row.note else f"{row.peer} {figure(row, row.peer_value)}" if row.peer else "",
            "" if row.ratio is None else share(row.ratio), "-".join(map(share, row.spread)) if row.spread else "",
            bound(row, row.bar, ">= " if row.more else "<= "), limits(row)]


HEAD = ["", "ours", "peer", "ratio", "spread", "bar", "limit"]


def text(rows):
    """the table as aligned lines; ! marks a row that misses its bar"""
    table = [HEAD] + [cells(row) for row in rows]
    marks = [" "] + ["!" if row.misses() else " " for row in rows]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    left = [True, False, True, False, False, False, True]
    for mark, line in zip(marks, table):
        yield (mark + " " + "  ".join(cell.ljust(width) if to_left else cell.rjust(width)
                                      for cell, width, to_left in zip(line, widths, left))).rstrip()


def markdown(rows):
    """the table as Markdown; a figure that misses its bar is bold"""
    yield "| | ours | peer | ratio | bar | limit |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        what, ours, peer, ratio, spread, bar, limit = cells(row)
        judged = ours if row.ratio is None else ratio
        shown = f"**{judged}**" if row.misses() else judged
        if row.ratio is None:
            ours = shown
        else:
            ratio = shown + (f" ({spread})" if spread else "")
        yield "| " + " | ".join([what, ours, peer, ratio, bar, limit]) + " |"


# ---- the plot ----

COLOURS = {"write": "#1f77b4", "iterate": "#2ca02c", "analyse": "#d62728", "bytes": "#7f7f7f", "minimum": "#999"}
CURVE_WIDTH, CURVE_HEIGHT, ROW_HEIGHT = 345, 300, 18


def escaped(words):
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plot_bars(rows, top):
    """each row relative to its bar: rows left of the line reach it; a tick marks the limit"""
    left, unit = 580, 110  # x of the line, and the distance for a factor of two
    parts = [f'<text x="{left}" y="{top + 14}" text-anchor="middle">the bar</text>']
    for factor in (-2, -1, 0, 1, 2):
        x = left + factor * unit
        parts.append(f'<path d="M{x} {top + 20}v{len(rows) * ROW_HEIGHT + 4}" stroke="{"#888" if factor == 0 else "#ddd"}"/>')
        if factor:
            parts.append(f'<text x="{x}" y="{top + 14}" text-anchor="middle">{2.0 ** factor:g}</text>')

    def place(row, value):
        times = (row.bar / value if row.more else value / row.bar) if value and value > 0 and row.bar else 0.25
        return left + unit * min(max(math.log2(times), -2), 2)

    for line, row in enumerate(rows):
        y = top + 24 + line * ROW_HEIGHT
        value = row.ours if row.ratio is None else row.ratio
        x = place(row, value)
        what, ours, peer, ratio = cells(row)[:4]
        parts.append(f'<text x="{left - 2 * unit - 6}" y="{y + 12}" text-anchor="end">{escaped(what)}</text>')
        parts.append(f'<rect x="{min(x, left):.0f}" y="{y + 2}" width="{abs(x - left):.0f}" height="{ROW_HEIGHT - 6}" '
                     f'fill="{"#d62728" if row.misses() else "#2ca02c"}" opacity="0.6"/>')
        if row.limit is not None:
            parts.append(f'<path d="M{place(row, row.limit):.0f} {y}v{ROW_HEIGHT - 2}" stroke="black" stroke-width="2"/>')
        label = ours if row.ratio is None else f"{ours}, {ratio} of {peer}"
        parts.append(f'<text x="{left + 2 * unit + 6}" y="{y + 12}">{escaped(label)}</text>')
    return parts


def plot_curve(name, lines, left, top):
    """ns and bytes per event, relative to the first point; a flat curve is the aim"""
    xs = [point[0] for point in lines["write"]]
    parts = [f'<text x="{left}" y="{top + 20}">an event, by {name} (1 = the first)</text>']
    for level in (0.5, 1, 2, 4, 8):
        y = top + 160 - 35 * math.log2(level)
        parts.append(f'<path d="M{left} {y}h270" stroke="#ddd"/><text x="{left - 25}" y="{y + 4}">{level:g}</text>')

    def across(value):
        return left + 270 * math.log(value / xs[0]) / math.log(xs[-1] / xs[0])

    def down(value, first):
        return top + 160 - 35 * math.log2(min(max(value / first, 0.3), 8))

    for value in xs:
        parts.append(f'<text x="{across(value):.0f}" y="{top + 225}" text-anchor="middle">{value:,}</text>')
    for place, (what, points) in enumerate(lines.items()):
        path = " ".join(f"{across(x):.1f},{down(y, points[0][1]):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[what]}" stroke-width="2"/>')
        parts.append(f'<text x="{left + 60 * place}" y="{top + 255}" fill="{COLOURS[what]}">{what}</text>')
        parts.append(f'<text x="{left + 60 * place}" y="{top + 272}" fill="{COLOURS[what]}">{points[0][1]:.3g} {"B" if what == "bytes" else "ns"}</text>')
    return parts


def plot(rows, curves):
    """an SVG image of the rows that have a bar, and of curves: {name: {figure: [[x, y], ...]}}, which may be empty"""
    rows = [row for row in rows if row.bar and not row.note]
    top = 40 + len(rows) * ROW_HEIGHT
    width, height = max(1200, len(curves) * CURVE_WIDTH + 20), top + (CURVE_HEIGHT if curves else 0)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>', *plot_bars(rows, 0)]
    for place, (name, lines) in enumerate(curves.items()):
        parts += plot_curve(name, lines, 40 + place * CURVE_WIDTH, top)
    return "\n".join(parts) + "\n</svg>\n"
