import { rowsOfStep, type Steps } from '../steps';

/** Quanta a time field may have: contiguous units, from coarse to fine (specification 3, B). */
export const timeQuanta = ['', 'Y', 'YM', 'YMD', 'YMDH', 'M', 'MD', 'MDH', 'D', 'DH', 'H'] as const;
export type TimeQuantum = (typeof timeQuanta)[number];

/** Length of a view's name by unit: `2017`, `201701`, `20170102`, `2017010203`. */
const nameLengths = { Y: 4, M: 6, D: 8, H: 10 } as const;
type Unit = keyof typeof nameLengths;
const units = Object.keys(nameLengths) as Unit[];

/** The name of the view that holds bits without a time. */
export const standardView = '';

/** Minutes of UTC since 1970, the finest a query can name. */
export type Minutes = number;

const unitOf = (view: string): Unit | undefined => units.find((unit) => nameLengths[unit] === view.length);

/** The views a bit with this time is in, one for each unit of the quantum. */
export function viewsAt(time: Minutes, quantum: TimeQuantum): string[] {
  const digits = new Date(time * 60_000).toISOString().replace(/\D/g, '');
  return units.filter((unit) => quantum.includes(unit)).map((unit) => digits.slice(0, nameLengths[unit]));
}

/** A view with those of the longer times that it is in, of the units of the quantum: what is in it is in them. */
export const viewsAround = (view: string, quantum: TimeQuantum): string[] => [
  ...units
    .filter((unit) => quantum.includes(unit) && nameLengths[unit] < view.length)
    .map((unit) => view.slice(0, nameLengths[unit])),
  view,
];

function dateOf(view: string): Date {
  const part = (from: number, length: number, fallback: number): number =>
    view.length > from ? Number(view.slice(from, from + length)) : fallback;
  const date = new Date(0);
  date.setUTCFullYear(part(0, 4, 0), part(4, 2, 1) - 1, part(6, 2, 1));
  date.setUTCHours(part(8, 2, 0));
  return date;
}

/** The time a view covers: from (inclusive) to (exclusive). */
function span(view: string, unit: Unit): { from: Minutes; to: Minutes } {
  const date = dateOf(view);
  const from = date.getTime() / 60_000;
  if (unit === 'Y') {
    date.setUTCFullYear(date.getUTCFullYear() + 1);
  }
  if (unit === 'M') {
    date.setUTCMonth(date.getUTCMonth() + 1);
  }
  if (unit === 'D') {
    date.setUTCDate(date.getUTCDate() + 1);
  }
  if (unit === 'H') {
    date.setUTCHours(date.getUTCHours() + 1);
  }
  return { from, to: date.getTime() / 60_000 };
}

/** Whether a text names a time view of a real date, of one of the quantum's units. */
export function isTimeView(view: string, quantum: TimeQuantum): boolean {
  const unit = unitOf(view);
  return (
    unit !== undefined &&
    quantum.includes(unit) &&
    /^\d+$/.test(view) &&
    viewsAt(span(view, unit).from, unit).includes(view)
  );
}

/**
 * Of the views a field has, the fewest that together hold what was set from `from` (inclusive) to `to` (exclusive), to the
 * precision of the quantum's finest unit.
 */
export function* viewsBetween(
  views: Iterable<string>,
  quantum: TimeQuantum,
  { from, to }: { from: Minutes; to: Minutes },
): Steps<string[]> {
  const finest = quantum.at(-1) as Unit | undefined;
  if (!finest) {
    return [];
  }
  const floor = (time: Minutes): Minutes => {
    const [view] = Number.isFinite(time) ? viewsAt(time, finest) : [];
    return view ? span(view, finest).from : time;
  };
  const [start, end] = [floor(from), floor(to)];
  const isInside = (view: string, unit: Unit): boolean => {
    const { from: opens, to: closes } = span(view, unit);
    return opens >= start && closes <= end;
  };
  const fewest: string[] = [];
  let inspected = 0;
  for (const view of views) {
    inspected += 1;
    if (inspected % rowsOfStep === 0) {
      yield;
    }
    const unit = unitOf(view);
    if (!unit || !quantum.includes(unit) || !isInside(view, unit)) {
      continue;
    }
    const coarser = units[units.indexOf(unit) - 1];
    if (!coarser || !quantum.includes(coarser) || !isInside(view.slice(0, nameLengths[coarser]), coarser)) {
      fewest.push(view);
    }
  }
  return fewest;
}

/** `YYYY-MM-DDTHH:MM` as minutes, or undefined when it is not a real time. */
export function parseTime(text: string): Minutes | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) {
    return undefined;
  }
  const date = new Date(`${text}:00Z`);
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 16) !== text ? undefined : date.getTime() / 60_000;
}
