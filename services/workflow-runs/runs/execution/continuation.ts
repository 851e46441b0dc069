import { condition, workflowInfo } from '@temporalio/workflow';
import { hasChange } from '../changes';
import type { SetupState } from '../stages/setup';
import type { Cursor } from './cursor';
import type { AcceptedProof, Answer, Delivery } from './messages';
import type { ProgressState } from './progress-state';

/** An execution continues as new when its history has this many events; Temporal warns at 10,240. */
const usualMaxEvents = 4_000;

/** What a continued execution needs that is not in the record of its run. Small: texts stay in the record. */
export interface RunState {
  startedAt: string;
  /** How many events the histories of the earlier executions have; absent in recorded ones, which none continues. */
  events?: number;
  paused: boolean;
  /** Whether it waits, by its record. */
  waiting: boolean;
  cursor: Cursor;
  /** Absent where it has none. */
  workspace?: { queue?: string };
  /** How far its setup has come; absent where it has none. */
  setup?: SetupState;
  /** Whether the hooks of its start have run; absent until then. */
  started?: true;
  /** The first launch of the run on the board, and the digest of its tool catalog; absent where it has neither. */
  board?: { root?: string; catalog?: string };
  progress: ProgressState;
  /** How often edges were taken, by their position in the graph. */
  traversals: [edge: number, times: number][];
  /** Answers and calls that came while the execution was about to continue; calls are absent when there are none. */
  answers: Answer[];
  deliveries?: Delivery[];
  /** Messages that must not be accepted again. */
  acceptedProofs: AcceptedProof[];
}

/** A walk stops where it is, to be resumed by the next execution. */
export class SuspendedError extends Error {
  override readonly name = 'SuspendedError';
}

/** When the execution of a run continues as new: its history is long, and no prompt is under way. */
export class Continuation {
  #due = false;
  #prompts = 0;

  constructor(maxEvents = usualMaxEvents) {
    const isLong = (): boolean => {
      const { historyLength, continueAsNewSuggested } = workflowInfo();
      return historyLength >= maxEvents || continueAsNewSuggested;
    };
    condition(isLong).then(
      () => (this.#due = hasChange('continue-as-new')),
      () => undefined,
    );
  }

  /** Whether nothing may be begun any more. */
  get isDue(): boolean {
    return this.#due;
  }

  /** Whether nothing is under way but waits, which the next execution resumes. */
  get isReady(): boolean {
    return this.#due && this.#prompts === 0;
  }

  /** Lets a prompt end before the execution continues. */
  async duringPrompt<T>(prompt: () => Promise<T>): Promise<T> {
    this.#prompts += 1;
    try {
      return await prompt();
    } finally {
      this.#prompts -= 1;
    }
  }

  /**
   * Waits until something holds.
   *
   * @returns whether it does; `false` when its time has passed before
   * @throws SuspendedError when the execution continues as new first
   */
  async wait(
    holds: () => boolean,
    { untilMs, summary }: { untilMs: number | undefined; summary: string },
  ): Promise<boolean> {
    const isOver = (): boolean => holds() || this.isReady;
    if (untilMs === undefined) {
      await condition(isOver);
    } else if (!(await condition(isOver, Math.max(1, untilMs - Date.now()), { summary }))) {
      return holds();
    }
    if (!holds()) {
      throw new SuspendedError();
    }
    return true;
  }
}
