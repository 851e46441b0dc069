import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../../platform/crypto/message-proof';
import { compact } from '../../../platform/json/compact';
import { cut } from '../../../platform/text/cut';
import { GraphError } from '../graph/compile';
import type { GraphCompiler } from '../graph/graph-compiler';
import { withDefaults } from './defaults';
import { type RunInput, runMessage, runWorkflowId } from './execution/messages';
import type { RunRecord } from './run';

export interface RunStartDependencies {
  taskQueue: string;
  messageProofs: Pick<MessageProofs, 'sign'>;
  graphs: Pick<GraphCompiler, 'compile'>;
  /** An execution continues as new when its history has so many events; the workflow's own limit when absent. */
  maxEvents?: number | undefined;
}

/**
 * The start options of a run's workflow, for every caller.
 *
 * @throws GraphError for a run that was accepted by a version which allowed more
 */
export async function runStart(run: RunRecord, dependencies: RunStartDependencies) {
  const { taskQueue, messageProofs, graphs, maxEvents } = dependencies;
  const { _id: runId, dot_source, vars, parent, defaults } = run;
  const placed = compact({ sandbox: defaults?.sandbox, directory: defaults?.directory });
  const setup = run.setup && { ...run.setup, ...placed };
  const hooks = run.hooks && { list: run.hooks, ...placed };
  const guidance = run.guidance.length > 0 ? run.guidance : undefined;
  const tree = parent && { parent: parent.run_id, budgets: parent.budgets };
  const input: RunInput = {
    runId,
    graph: withDefaults(await graphs.compile(dot_source), defaults),
    ...compact({ vars, setup, hooks, guidance, tree, maxEvents }),
  };
  const proof = messageProofs.sign(runMessage('start', runId, input), startProofMs);
  return {
    workflowId: runWorkflowId(runId),
    taskQueue,
    args: [{ ...input, proof }] as [RunInput],
    staticSummary: cut(run.title, 200),
  };
}

/** Why a run can never be started, of what its start failed with; `undefined` when another try may succeed. */
export function whyUnstartable(error: unknown): string | undefined {
  if (error instanceof GraphError) {
    return error.message;
  }
  const refusal = [error, error instanceof Error ? error.cause : undefined].find(isGrpcServiceError);
  return refusal?.code === status.INVALID_ARGUMENT ? `Temporal refuses its start: ${refusal.details}` : undefined;
}
