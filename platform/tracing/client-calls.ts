import type { WorkflowClientInterceptor } from '@temporalio/client';
import { withTraceHeader } from './header';
import { inSpan, SpanKind } from './spans';

/** Makes a call of Temporal within a span that names its workflow. */
const within = <T>(name: string, { workflowId }: { workflowId?: string | null }, call: () => Promise<T>): Promise<T> =>
  inSpan({ name, kind: SpanKind.CLIENT, attributes: { 'temporal.workflow_id': workflowId ?? '' } }, call);

/** Opens a span for each call that starts, signals or updates a workflow, and names it to the workflow. */
export const traceCalls: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    within(`StartWorkflow:${input.workflowType}`, input.options, () =>
      next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  signalWithStart: (input, next) =>
    within(`SignalWithStartWorkflow:${input.workflowType}`, input.options, () =>
      next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  startUpdateWithStart: (input, next) =>
    within(`UpdateWithStartWorkflow:${input.workflowType}`, input.workflowStartOptions, () =>
      next({
        ...input,
        workflowStartHeaders: withTraceHeader(input.workflowStartHeaders),
        updateHeaders: withTraceHeader(input.updateHeaders),
      }),
    ),
  signal: (input, next) =>
    within(`SignalWorkflow:${input.signalName}`, input.workflowExecution, () =>
      next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  startUpdate: (input, next) =>
    within(`UpdateWorkflow:${input.updateName}`, input.workflowExecution, () =>
      next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
};
