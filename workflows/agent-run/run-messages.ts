import { allHandlersFinished, CancellationScope, condition, patched, setHandler } from '@temporalio/workflow';
import type { AgentCommandType } from '../../contracts/runs/command';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';
import { temporalOperator } from '../operator';
import { reject } from '../reject';
import { checkProof, refusing, verified } from '../unproven';
import type { CommandedRun } from './commands';
import { type Ending, timeout } from './ending';
import {
  type AgentRunInput,
  capacityReserved,
  type CompleteInput,
  completeUpdate,
  conflictingClaim,
  invalidCompletion,
  launchUpdate,
  notRemote,
  type OperatorCompletion,
  type RunEnd,
  runEnded,
  staleAttempt,
  type StopInput,
  stopUpdate,
} from './messages';
import { OperatorView } from './operator-view';
import { operator } from './proxies';

/** The messages that the run has received; the handlers are set before the first await. */
export class RunMessages implements CommandedRun {
  /** The launch once its contract is stored; the first response to the caller may have been `queued`. */
  started: LaunchOutcome | undefined;
  takes: readonly AgentCommandType[] | undefined;
  launch: LaunchOutcome | undefined;
  stop: { actor: string; proof?: MessageProof | undefined } | undefined;
  timedOutAfterMs: number | undefined;
  claimDigest: string | undefined;
  end: RunEnd | undefined;
  hasCapacity = false;
  remote: boolean | undefined;
  /** Activities of it that nothing waits for, such as cancelled ones: they may report as long as the run is open. */
  openActivities = 0;
  readonly attemptId: string;
  private noted: Promise<unknown> = Promise.resolve();
  readonly view: OperatorView;
  /** Decided once, by the worker that begins the run. */
  readonly storesHere = patched('store-work-here');

  constructor({ taskId, attemptId }: AgentRunInput) {
    this.attemptId = attemptId;
    this.view = new OperatorView(taskId, attemptId);
    setHandler(capacityReserved, () => {
      this.hasCapacity = true;
    });
    setHandler(launchUpdate, async () => {
      await lasting(() => this.launch !== undefined);
      return this.launch ?? reject(runEnded, 'The launch was never decided.');
    });
    setHandler(
      stopUpdate,
      async (request) => {
        const stop = await this.stopOf(request);
        this.stop ??= stop;
        this.view.log(`${stop.actor} asked to stop it.`);
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: (request: StopInput) => {
          checkProof(request);
          this.checkAttempt(request.attemptId);
          if (this.end) {
            reject(runEnded, 'The run has ended.');
          }
        },
      },
    );
    setHandler(
      completeUpdate,
      async (completion) => {
        const claimDigest = await ('claimDigest' in completion
          ? this.storedClaim(completion)
          : this.writeClaim(completion));
        this.claimDigest ??= claimDigest;
        if (this.claimDigest !== claimDigest) {
          reject(conflictingClaim, 'Another terminal claim was made first.');
        }
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: (completion: CompleteInput | OperatorCompletion) => {
          this.checkAttempt(completion.attemptId);
          if (this.remote === false) {
            reject(notRemote, 'Only a remote agent reports its own completion.');
          }
          if (!('claimDigest' in completion)) {
            checkCompletion(completion);
          } else if (this.claimDigest !== undefined && this.claimDigest !== completion.claimDigest) {
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
    if (this.stop) {
      return { by: 'stop', ...this.stop };
    }
    return this.timedOutAfterMs === undefined ? undefined : timeout(this.timedOutAfterMs);
  }

  /** An operator's cancel of the workflow is a stop, and is recorded like one. */
  stopByOperator(): void {
    this.stop ??= { actor: temporalOperator };
    if (!patched('audited-cancel')) {
      return;
    }
    const stop = { attemptId: this.attemptId, actor: temporalOperator, acceptedAtMs: Date.now() };
    this.noted = CancellationScope.nonCancellable(() => operator.attributeStop(stop)).catch(() => undefined);
  }

  answer(launch: LaunchOutcome): void {
    this.launch ??= launch;
  }

  /** Lets every update that waits for the end return before the workflow closes. */
  async finish(end: RunEnd): Promise<RunEnd> {
    this.end = end;
    await this.noted;
    await lasting(allHandlersFinished);
    return end;
  }

  /** The actor of a stop, as far as it is proven; an operator's cancel of the workflow leaves no update without a response. */
  private async stopOf(request: StopInput): Promise<{ actor: string; proof?: MessageProof | undefined }> {
    if (!patched('proven-stop')) {
      return { actor: request.actor };
    }
    const acceptedAtMs = Date.now();
    return CancellationScope.nonCancellable(() => verified(operator.attributeStop({ ...request, acceptedAtMs })));
  }

  /** The API stores a claim before it sends it; a claim that is not stored was forged. */
  private async storedClaim({ attemptId, claimDigest }: CompleteInput): Promise<string> {
    if (patched('stored-claims')) {
      await CancellationScope.nonCancellable(() => refusing(operator.requireClaim({ attemptId, claimDigest })));
    }
    return claimDigest;
  }

  /** Stores an operator's claim, where every claim is. */
  private async writeClaim(completion: OperatorCompletion): Promise<string> {
    this.view.log(`An operator (operator:temporal) reports that it ended: ${completion.status}.`);
    return CancellationScope.nonCancellable(() => operator.writeClaim(completion));
  }

  private checkAttempt(attemptId: string): void {
    if (attemptId !== this.attemptId) {
      reject(staleAttempt, `This run is ${this.attemptId}.`);
    }
  }
}

/** Waits for a condition also after an operator's cancel, which is a stop like any other and has an end to be reported. */
const lasting = (met: () => boolean): Promise<void> => CancellationScope.nonCancellable(() => condition(met));

/** An operator types this by hand: nothing about its shape is certain. */
function checkCompletion({ status, summary, actor }: OperatorCompletion): void {
  const statuses = ['success', 'blocked', 'failed', 'interrupted', 'partial'];
  if (!statuses.includes(status)) {
    reject(invalidCompletion, `status is one of ${statuses.join(', ')}.`);
  }
  if (typeof summary !== 'string' || summary.length === 0 || summary.length > 20_000) {
    reject(invalidCompletion, 'summary states how it ended, in 1 to 20000 characters.');
  }
  if (typeof actor !== 'string' || actor.length === 0 || actor.length > 200) {
    reject(invalidCompletion, 'actor names who it is from, in 1 to 200 characters.');
  }
}
