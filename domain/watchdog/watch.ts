import type { ProgressSignal, WatchdogConfidence } from '../../contracts/runs/watchdog';
import { compact } from '../../platform/json/compact';
import { detect, type Detection, type Idle } from './detectors';
import { type Observation, observe, type WatchedEvent } from './observation';
import { actionFor, type WatchdogSettings } from './settings';

/** Something to be recorded: what was detected, and whether the watchdog may act on it. */
export interface Sighting extends Detection {
  turnId: string | null;
  /** Sequence of the progress it is counted from; 0 for the beginning of the run. */
  sinceSequence: number;
  sequence: number;
  receivedAt: string;
  /** Why nothing is done about it, when that is so. */
  suppressed?: 'turn-limit' | 'run-limit';
}

const rank: Readonly<Record<WatchdogConfidence, number>> = { low: 1, medium: 2, high: 3 };

/**
 * Watches the events of one run, in the order of their sequence, one at a time and with a bounded memory. The same events give
 * the same sightings, so that another watch of them finds the same.
 */
export class ProgressWatch {
  private window: Observation[] = [];
  private idle: Idle | undefined;
  private sinceSequence = 0;
  /** What was reported since the last progress, and how certain it was. */
  private readonly reported = new Map<string, number>();
  private readonly taken = { inRun: 0, inTurn: 0, turn: '' };
  private operatorInputs = 0;
  private findings = 0;

  constructor(private readonly settings: WatchdogSettings) {}

  /** Takes the next event and returns what is new: each behaviour once, and again when it is more certain. */
  see(event: WatchedEvent): Sighting[] {
    const seen = observe(event);
    if (seen.progress !== undefined) {
      this.progress(seen.progress, seen.sequence);
      return [];
    }
    const idle = this.count(seen);
    this.window.push(seen);
    if (this.window.length > this.settings.windowEvents) {
      this.window.shift();
    }
    if (!seen.counts && seen.tokens === 0 && seen.costUsd === 0) {
      return [];
    }
    return detect(this.window, idle, this.settings)
      .filter((detection) => this.isNews(detection))
      .map((detection) => this.sighting(detection, seen, event.receivedAt));
  }

  /** Resets the watch, for progress that shows elsewhere than in an event. */
  progress(signal: ProgressSignal, sequence: number): void {
    if (signal === 'operator-input') {
      this.operatorInputs += 1;
    }
    this.window = [];
    this.idle = undefined;
    this.sinceSequence = sequence;
    this.reported.clear();
  }

  private count({ sequence, at, counts, tokens, costUsd }: Observation): Idle {
    const idle = this.idle ?? { events: 0, fromSequence: sequence, startedAt: at, at, tokens: 0, costUsd: 0 };
    this.idle = {
      ...idle,
      events: idle.events + (counts ? 1 : 0),
      at: Math.max(idle.at, at),
      tokens: idle.tokens + tokens,
      costUsd: idle.costUsd + costUsd,
    };
    return this.idle;
  }

  private isNews({ detector, fingerprint, confidence }: Detection): boolean {
    if (this.findings >= this.settings.findingsPerRun) {
      return false;
    }
    const key = `${detector} ${fingerprint}`;
    if ((this.reported.get(key) ?? 0) >= rank[confidence]) {
      return false;
    }
    this.reported.set(key, rank[confidence]);
    this.findings += 1;
    return true;
  }

  private sighting(detection: Detection, { sequence, turnId }: Observation, receivedAt: string): Sighting {
    const suppressed = this.act(turnId, detection.confidence);
    return {
      ...detection,
      turnId,
      sinceSequence: this.sinceSequence,
      sequence,
      receivedAt,
      ...compact({ suppressed }),
    };
  }

  /** Counts an action of the watchdog, or returns why it may not have another one. */
  private act(turnId: string | null, confidence: WatchdogConfidence): Sighting['suppressed'] {
    const { perRun, perTurn } = this.settings.automatedActions;
    // Agents that name no turns have one for each message of a person.
    const turn = turnId ?? `after input ${this.operatorInputs}`;
    if (turn !== this.taken.turn) {
      Object.assign(this.taken, { turn, inTurn: 0 });
    }
    if (this.taken.inRun >= perRun) {
      return 'run-limit';
    }
    // The warnings before it are what a turn may have two of; the pause ends the turn.
    if (this.taken.inTurn >= perTurn && actionFor[confidence] !== 'pause') {
      return 'turn-limit';
    }
    this.taken.inRun += 1;
    this.taken.inTurn += 1;
    return undefined;
  }
}
