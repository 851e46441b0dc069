import type { WatchdogConfidence, WatchdogDetector, WatchdogFinding } from '../../contracts/runs/watchdog';
import { digestOf } from '../../platform/json/digest';
import type { Observation } from './observation';
import { confidenceOf, type WatchdogSettings } from './settings';

/** What a detector sees at the end of the window. */
export interface Detection {
  detector: WatchdogDetector;
  confidence: WatchdogConfidence;
  /** The same as long as the same behaviour continues. */
  fingerprint: string;
  fromSequence: number;
  observed: number;
  threshold: number;
  unit: WatchdogFinding['evidence']['unit'];
  cycleLength?: number;
  path?: string;
  elapsedMs?: number;
  tokens?: number;
  costUsd?: number;
}

/** What has happened since the last progress. */
export interface Idle {
  events: number;
  fromSequence: number;
  startedAt: number;
  at: number;
  tokens: number;
  costUsd: number;
}

type Acted = Observation & { action: string };

/** Searches the window, the oldest observation first, for behaviour without progress. */
export function detect(window: readonly Observation[], idle: Idle, settings: WatchdogSettings): Detection[] {
  const acted = window.filter((seen): seen is Acted => seen.action !== undefined);
  return [
    identicalRepetition(acted, settings),
    multiStepCycle(acted, settings),
    failedFileEdit(window, settings),
    noDurableProgress(idle, settings),
  ].filter((detection) => detection !== undefined);
}

function identicalRepetition(acted: readonly Acted[], { identicalRepetitions: threshold }: WatchdogSettings) {
  const last = acted.at(-1);
  if (!last) {
    return undefined;
  }
  let from = acted.length - 1;
  while (from > 0 && acted[from - 1]?.action === last.action) {
    from -= 1;
  }
  return detection('identical-repetition', {
    observed: acted.length - from,
    threshold,
    unit: 'repetitions',
    fingerprint: digestOf([last.action]),
    fromSequence: acted[from]?.sequence ?? last.sequence,
  });
}

/** The shortest cycle of at least two different actions that the window ends with. */
function multiStepCycle(acted: readonly Acted[], { cycleLength: longest, cycleRepeats: threshold }: WatchdogSettings) {
  for (let length = 2; length <= longest; length += 1) {
    const tail = acted.slice(-length).map(({ action }) => action);
    if (tail.length < length || new Set(tail).size < 2) {
      continue;
    }
    let matched = length;
    while (matched < acted.length && acted.at(-1 - matched)?.action === tail.at(-1 - (matched % length))) {
      matched += 1;
    }
    const repeats = Math.floor(matched / length);
    if (repeats < threshold) {
      continue;
    }
    return detection('multi-step-cycle', {
      observed: repeats,
      threshold,
      unit: 'repetitions',
      // Wherever in the cycle the window happens to end.
      fingerprint: digestOf([...tail].sort()),
      fromSequence: acted.at(-repeats * length)?.sequence ?? 0,
      cycleLength: length,
    });
  }
  return undefined;
}

function failedFileEdit(window: readonly Observation[], { failedEdits: threshold }: WatchdogSettings) {
  const path = window.findLast(({ failedEdit }) => failedEdit !== undefined)?.failedEdit;
  if (path === undefined) {
    return undefined;
  }
  const failures = window.filter(({ failedEdit }) => failedEdit === path);
  return detection('failed-file-edit', {
    observed: failures.length,
    threshold,
    unit: 'failures',
    fingerprint: digestOf([path]),
    fromSequence: failures[0]?.sequence ?? 0,
    path,
  });
}

/** Events count only together with time; tokens and money by themselves. */
function noDurableProgress(idle: Idle, { noProgress: limits }: WatchdogSettings) {
  const elapsedMs = idle.at - idle.startedAt;
  const eventRatio = Math.min(idle.events / limits.events, elapsedMs / limits.elapsedMs);
  const measures = [
    { unit: 'events' as const, observed: idle.events, threshold: limits.events, ratio: eventRatio },
    { unit: 'tokens' as const, observed: idle.tokens, threshold: limits.tokens, ratio: idle.tokens / limits.tokens },
    { unit: 'usd' as const, observed: idle.costUsd, threshold: limits.costUsd, ratio: idle.costUsd / limits.costUsd },
  ];
  const { ratio, observed, threshold, unit } = measures.reduce((most, next) => (next.ratio > most.ratio ? next : most));
  const confidence = confidenceOf(ratio);
  if (!confidence) {
    return undefined;
  }
  const { fromSequence, tokens, costUsd } = idle;
  return {
    detector: 'no-durable-progress' as const,
    confidence,
    fingerprint: digestOf(['no-durable-progress', fromSequence]),
    fromSequence,
    observed,
    threshold,
    unit,
    elapsedMs,
    tokens,
    costUsd,
  };
}

interface Measured extends Pick<Detection, 'fingerprint' | 'fromSequence' | 'unit' | 'cycleLength' | 'path'> {
  observed: number;
  threshold: number;
}

function detection(detector: WatchdogDetector, { observed, threshold, ...rest }: Measured): Detection | undefined {
  const confidence = confidenceOf(observed / threshold);
  return confidence && { detector, confidence, observed, threshold, ...rest };
}
