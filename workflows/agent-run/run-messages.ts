import { CancellationScope, allHandlersFinished, condition, setHandler, patched } from '@temporalio/workflow';
import type { AgentCommandType } from '../../contracts/agent-command';
import type { LaunchOutcome } from '../../contracts/launch';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';
import { temporalOperator } from '../operator';
import { reject } from '../reject';
import { checkProof, refusing, verified } from '../unproven';
import { operator } from './activities';
import type { CommandedRun } from './commands';
import { timeout, type Ending } from './ending';
import {
  capacityReserved,
  completeUpdate,
  conflictingClaim,
  invalidCompletion,
  launchUpdate,
  notRemote,
  runEnded,
  staleAttempt,
  stopUpdate,
  type AgentRunInput,
  type CompleteInput,
  type OperatorCompletion,
  type RunEnd,
  type StopInput,
} from './messages';
import { RunStory } from './story';

/** What has been said to the run so far; the handlers are set before the first await. */
export class RunMessages implements CommandedRun {
  /** The launch once its contract is stored; what the caller was answered first may have been `queued`. */
  started: LaunchOutcome | undefined;
  takes: readonly AgentCommandType[] | undefined;
  launch: LaunchOutcome | undefined;
  stop: { actor: string; proof?: MessageProof | undefined } | undefined;
  timedOutAfterMs: number | undefined;
  claimDigest: string | undefined;
  end: RunEnd | undefined;
  hasCapacity = false;
  remote: boolean | undefined;
  readonly attemptId: string;
  private noted: Promise<unknown> = Promise.resolve();
  readonly story: RunStory;

  constructor({ taskId, attemptId }: AgentRunInput) {
    this.attemptId = attemptId;
    this.story = new RunStory(taskId, attemptId);
    setHandler(capacityReserved, () => {
      this.hasCapacity = true;
    });
    setHandler(launchUpdate, async () => {
      await lasting(() => this.launch !== undefined);
      return this.launch ?? reject(runEnded, 'The launch was never decided.');
    });
    setHandler(
      stopUpdate,
      async (asked) => {
        const stop = await this.stopOf(asked);
        this.stop ??= stop;
        this.story.tell(`${stop.actor} asked to stop it.`);
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: (asked: StopInput) => {
          checkProof(asked);
          this.checkAttempt(asked.attemptId);
          if (this.end) reject(runEnded, 'The run has ended.');
        },
      },
    );
    setHandler(
      completeUpdate,
      async (given) => {
        const claimDigest = await ('claimDigest' in given ? this.storedClaim(given) : this.writeClaim(given));
        this.claimDigest ??= claimDigest;
        if (this.claimDigest !== claimDigest) reject(conflictingClaim, 'Another terminal claim was made first.');
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: (given: CompleteInput | OperatorCompletion) => {
          this.checkAttempt(given.attemptId);
          if (this.remote === false) reject(notRemote, 'Only a remote agent reports its own completion.');
          if (!('claimDigest' in given)) checkCompletion(given);
          else if (this.claimDigest !== undefined && this.claimDigest !== given.claimDigest) {
            reject(conflictingClaim, 'Another terminal claim was made first.');
          }
        },
      },
    );
  }

  get isEnding(): boolean {
    return this.end !== undefined || this.isCutShort;
  }

  get isCutShort(): boolean {
    return this.stop !== undefined || this.timedOutAfterMs !== undefined;
  }

  /** Why it ends before its agent does, if it does. */
  cutShort(): Ending | undefined {
    if (this.stop) return { by: 'stop', ...this.stop };
    return this.timedOutAfterMs === undefined ? undefined : timeout(this.timedOutAfterMs);
  }

  /** An operator's cancel of the workflow is a stop, and is written down like one. */
  stopByOperator(): void {
    this.stop ??= { actor: temporalOperator };
    if (!patched('audited-cancel')) return;
    const stop = { attemptId: this.attemptId, actor: temporalOperator, acceptedAtMs: Date.now() };
    this.noted = CancellationScope.nonCancellable(() => operator.attributeStop(stop)).catch(() => undefined);
  }

  answer(launch: LaunchOutcome): void {
    this.launch ??= launch;
  }

  /** Lets every update that waits for the end have its answer before the workflow closes. */
  async finish(end: RunEnd): Promise<RunEnd> {
    this.end = end;
    await this.noted;
    await lasting(allHandlersFinished);
    return end;
  }

  /** Who asks for the end, as far as that is proven; an operator's cancel of the workflow ends nobody's question. */
  private async stopOf(asked: StopInput): Promise<{ actor: string; proof?: MessageProof | undefined }> {
    if (!patched('proven-stop')) return { actor: asked.actor };
    const acceptedAtMs = Date.now();
    return CancellationScope.nonCancellable(() => verified(operator.attributeStop({ ...asked, acceptedAtMs })));
  }

  /** The API stores what it is told of the end before it says so; what is not there was made up. */
  private async storedClaim({ attemptId, claimDigest }: CompleteInput): Promise<string> {
    if (patched('stored-claims'))
      await CancellationScope.nonCancellable(() => refusing(operator.requireClaim({ attemptId, claimDigest })));
    return claimDigest;
  }

  /** Keeps what an operator says of the end in the stores, where every claim is. */
  private async writeClaim(given: OperatorCompletion): Promise<string> {
    this.story.tell(`An operator (operator:temporal) says that it ended: ${given.status}.`);
    return CancellationScope.nonCancellable(() => operator.writeClaim(given));
  }

  private checkAttempt(attemptId: string): void {
    if (attemptId !== this.attemptId) reject(staleAttempt, `This run is ${this.attemptId}.`);
  }
}

/** Waits for a condition also after an operator's cancel, which is a stop like any other and has an end to be told. */
const lasting = (met: () => boolean): Promise<void> => CancellationScope.nonCancellable(() => condition(met));

/** An operator types this by hand: nothing about its shape is certain. */
function checkCompletion({ status, summary, actor }: OperatorCompletion): void {
  const statuses = ['success', 'blocked', 'failed', 'interrupted', 'partial'];
  if (!statuses.includes(status)) reject(invalidCompletion, `status is one of ${statuses.join(', ')}.`);
  if (typeof summary !== 'string' || summary.length === 0 || summary.length > 20_000) {
    reject(invalidCompletion, 'summary says how it ended, in 1 to 20000 characters.');
  }
  if (typeof actor !== 'string' || actor.length === 0 || actor.length > 200) {
    reject(invalidCompletion, 'actor says who it is from, in 1 to 200 characters.');
  }
}
