import { createContext, Script } from 'node:vm';
import type { BaseVMWorkflow } from '@temporalio/worker/lib/workflow/vm-shared';

type Completion = Awaited<ReturnType<BaseVMWorkflow['activate']>>;

/** A workflow in its thread, as far as this needs it. */
interface Workflow {
  activator: {
    info: { runId: string };
    errorToFailure(error: unknown): NonNullable<NonNullable<Completion['failed']>['failure']>;
  };
  activate(activation: unknown): Promise<Completion>;
}

interface Creator {
  create: (
    this: Creator,
    ...options: [bundle: unknown, timeoutMs: number | undefined, ...unknown[]]
  ) => Promise<unknown>;
}

/**
 * Limits the time of each activation of a workflow as a whole. The SDK limits each of its calls into the workflow's context, of which an
 * activation has at least three, and Node starts and joins a thread for every limit: most of what a short activation costs.
 */
export function watchActivationsOnce(): void {
  /* eslint-disable @typescript-eslint/no-require-imports -- threads of workflows alone load them */
  const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm') as {
    ReusableVMWorkflowCreator: Creator;
  };
  const { BaseVMWorkflow: workflows } = require('@temporalio/worker/lib/workflow/vm-shared') as {
    BaseVMWorkflow: { prototype: { activate: (this: Workflow, activation: unknown) => Promise<Completion> } };
  };
  /* eslint-enable @typescript-eslint/no-require-imports */
  const { create } = ReusableVMWorkflowCreator;
  const { activate } = workflows.prototype;
  const context = createContext({});
  const call = new Script('call()');
  let limitMs: number | undefined;

  ReusableVMWorkflowCreator.create = function (bundle, timeoutMs, ...rest) {
    limitMs = timeoutMs;
    return create.call(this, bundle, undefined, ...rest);
  };
  workflows.prototype.activate = async function (activation) {
    // Whatever runs code of the workflow comes before its first await.
    context.call = () => activate.call(this, activation);
    try {
      return await (call.runInContext(context, { timeout: limitMs }) as Promise<Completion>);
    } catch (error) {
      // As the SDK fails a workflow task whose time is over.
      return { runId: this.activator.info.runId, failed: { failure: this.activator.errorToFailure(error) } };
    }
  };
}
