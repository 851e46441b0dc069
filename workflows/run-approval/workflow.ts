import {
  allHandlersFinished,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '../../activities/run-approval/activities';
import type { ApprovalStatus } from '../../contracts/runs/approval';
import { agentRunId, approvalChanged } from '../agent-run/messages';
import { reject } from '../reject';
import { sibling } from '../sibling';
import { requireProof, verified } from '../unproven';
import {
  approvalActionChanged,
  approvalClosed,
  approvalNotPending,
  approvalStale,
  type Decided,
  type DecideInput,
  decideUpdate,
  type RunApprovalInput,
} from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyLocalActivities<ApprovalActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * One request for approval, from its announcement until it is decided, expires or its attempt ends. The record in the stores is
 * authoritative: a decision is written there first, and only then sent to the run that waits.
 */
export async function runApproval(input: RunApprovalInput): Promise<ApprovalStatus> {
  const messages = new ApprovalMessages(input);
  // An operator's "cancel" in the Temporal UI takes the request back.
  CancellationScope.current().cancelRequested.catch(() => {
    messages.withdrawn = true;
  });
  return CancellationScope.nonCancellable(() => approval(input, messages));
}

async function approval(input: RunApprovalInput, messages: ApprovalMessages): Promise<ApprovalStatus> {
  const { approvalId } = input;
  messages.status = (await records.announceApproval({ approvalId })).status;
  messages.announced = true;
  if (messages.status === 'pending') {
    setCurrentDetails(`Waits for a decision until ${input.expiresAt}.`);
    await notifyRun(input, 'pending');
    // The clock of workflow code is that of its history: a replay computes the same.
    const leftMs = Math.max(1, Date.parse(input.expiresAt) - Date.now());
    await condition(() => messages.over, leftMs);
    // A decision that is being recorded just now is not overtaken by the end of its time.
    await condition(() => !messages.deciding);
  }
  if (messages.status === 'pending') {
    const decision = messages.withdrawn || messages.closed ? 'cancelled' : 'expired';
    const actor = messages.closed ? 'system:run-end' : messages.withdrawn ? 'operator:temporal' : 'system:expiry';
    messages.status = (await records.closeApproval({ approvalId, outcome: { decision, actor } })).status;
  }
  const { status } = messages;
  setCurrentDetails(`The request is **${status}**.`);
  // A run whose end has cancelled the request needs no notice of it.
  if (status !== 'cancelled') {
    await notifyRun(input, status);
  }
  await condition(allHandlersFinished);
  return status;
}

/** The run shows its operators that it waits. One that is over gets no signal, and delays no end. */
async function notifyRun({ attemptId, approvalId }: RunApprovalInput, status: ApprovalStatus): Promise<void> {
  try {
    await getExternalWorkflowHandle(sibling(agentRunId(attemptId))).signal(approvalChanged, { approvalId, status });
  } catch {
    // The run has ended, or never was one of this server: the record has the decision.
  }
}

/** The messages that the approval has received; the handlers are set before the first await. */
class ApprovalMessages {
  status: ApprovalStatus = 'pending';
  announced = false;
  deciding = false;
  withdrawn = false;
  closed = false;

  constructor(private readonly input: RunApprovalInput) {
    setHandler(approvalClosed, () => {
      this.closed = true;
    });
    setHandler(decideUpdate, (decision) => this.decide(decision), {
      validator: (decision: DecideInput) => this.check(decision),
    });
  }

  get over(): boolean {
    return this.status !== 'pending' || this.closed || this.withdrawn;
  }

  private async decide(decision: DecideInput): Promise<Decided> {
    this.deciding = true;
    const acceptedAtMs = Date.now();
    try {
      // The decision is never published before the request.
      await condition(() => this.announced);
      const { approvalId } = this.input;
      const decided = await verified(records.decideApproval({ approvalId, decision, acceptedAtMs }));
      this.status = decided.status;
      return decided;
    } finally {
      this.deciding = false;
    }
  }

  private check(decision: DecideInput): void {
    requireProof(decision);
    const { expectedRevision, expectedActionHash } = decision;
    if (this.over || this.deciding) {
      reject(approvalNotPending, 'The request is no longer pending.');
    }
    if (expectedActionHash !== this.input.actionHash) {
      reject(approvalActionChanged, 'The request is for another action.');
    }
    if (expectedRevision !== this.input.revision) {
      reject(approvalStale, 'The request has changed since it was read.');
    }
  }
}
