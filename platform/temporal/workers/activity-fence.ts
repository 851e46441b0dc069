import type { Info } from '@temporalio/activity';
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { activityMessage, activityProofHeader, provenWorkflows } from '../activity-proof';
import type { ProofVerifier } from '../proof-verifier';

/** Who may schedule an activity. */
export interface ActivityCaller<Ids extends object = Record<string, string | undefined>> {
  /** Types of workflows. */
  workflows: readonly string[];
  /** The workflow that an input is of; any of these workflows when absent. */
  workflowId?: (input: Ids) => string;
}

/** The failure type of an activity that was scheduled by something else than its own workflow. */
export const activityForbidden = 'ACTIVITY_FORBIDDEN';

export interface ActivityFenceOptions {
  /** By the name of the activity; one without an entry is refused. */
  callers: Readonly<Record<string, ActivityCaller>>;
  /** The id that a workflow has within its workspace. */
  idOf?: (workflowId: string) => string;
  /** Verifies what the workers of a workflow have proven; needed where activities are of one of `provenWorkflows`. */
  proofsOf?: (workflowId: string) => Promise<Pick<ProofVerifier, 'require'>>;
}

/**
 * Refuses activities that were not scheduled by a workflow of Runboard, and those that concern another workflow than theirs: by
 * itself, or from a workflow of another name, an activity would pass every check that its workflow makes. Where activities do
 * what their input asks for, the name of the workflow is not enough: these are local, or our own workflow code has proven them.
 */
export function createActivityFence({
  callers,
  idOf = (workflowId) => workflowId,
  proofsOf,
}: ActivityFenceOptions): ActivityInterceptorsFactory {
  const callersByName = new Map(Object.entries(callers));
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const { activityType, isLocal, workflowExecution, workflowType = '' } = info;
        const ownId = workflowExecution && idOf(workflowExecution.workflowId);
        assertCaller(callersByName.get(activityType), { ...info, ownId }, input.args[0]);
        if (!isLocal && workflowExecution && provenWorkflows.includes(workflowType)) {
          if (!proofsOf) {
            throw forbidden(info);
          }
          const proofs = await proofsOf(workflowExecution.workflowId);
          const message = activityMessage(workflowExecution, { activityType, args: input.args });
          await proofs.require(message, proofOf(input.headers[activityProofHeader]));
        }
        return next(input);
      },
    },
  });
}

function proofOf(payload: Payload | undefined): unknown {
  try {
    return payload && defaultPayloadConverter.fromPayload(payload);
  } catch {
    return 'unreadable';
  }
}

/** @param info with the id of the workflow within its workspace */
function assertCaller(
  caller: ActivityCaller | undefined,
  info: Info & { ownId: string | undefined },
  input: unknown,
): void {
  const { workflowType, ownId } = info;
  const isOurs = caller?.workflows.some((name) => name === workflowType) === true;
  const ids = typeof input === 'object' && input !== null ? (input as Record<string, string | undefined>) : {};
  const expectedId = caller?.workflowId?.(ids);
  if (isOurs && (expectedId === undefined || ownId === expectedId)) {
    return;
  }
  throw forbidden(info);
}

const forbidden = ({ activityType, workflowExecution }: Pick<Info, 'activityType' | 'workflowExecution'>) =>
  ApplicationFailure.create({
    type: activityForbidden,
    message: `${activityType} is scheduled by its own workflow only, not by ${workflowExecution?.workflowId ?? 'itself'}.`,
    nonRetryable: true,
  });
