import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for everything that shows a time: it ticks once a second while something does. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) {
      each();
    }
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

const coarse = (): number => Math.floor(now / 15_000) * 15_000;

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago, or until when: `3 min. ago`, `in 2 hr.`. */
export function ago(iso: string, at: number = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - at) / 1_000);
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  if (!unit) {
    return Math.abs(seconds) < 30 ? 'now' : relative.format(seconds, 'second');
  }
  return relative.format(Math.trunc(seconds / unit[1]), unit[0]);
}

/** A relative time with the exact one on hover, in the zone of the person. */
export function Ago({ at }: { at: string }) {
  const moment = useSyncExternalStore(subscribe, coarse);
  return (
    <time className="num" dateTime={at} title={exact.format(new Date(at))}>
      {ago(at, Math.max(moment, Date.parse(at) > Date.now() ? 0 : Date.parse(at)))}
    </time>
  );
}

/** A duration in at most two units: `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (ms > 0 && ms < 1_000) {
    return `${Math.round(ms)} ms`;
  }
  const [days, hours, minutes, rest] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  if (days > 0) {
    return `${days} d ${hours} h`;
  }
  if (hours > 0) {
    return `${hours} h ${minutes} min`;
  }
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** The time since a moment, which grows while it is shown. */
export function Elapsed({ since, until }: { since: string; until?: string | undefined }) {
  const at = useSyncExternalStore(subscribe, () => (until === undefined ? now : 0));
  const end = until === undefined ? Math.max(at, Date.now() - 1_000) : Date.parse(until);
  const ms = end - Date.parse(since);
  return <span className="num">{until === undefined && ms < 1_000 ? '0 s' : duration(ms)}</span>;
}
