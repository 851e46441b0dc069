import type { WorkflowClientInterceptor } from '@temporalio/client';
import { withTraceHeader } from './header';
import { inSpan, SpanKind } from './spans';

const kind = SpanKind.CLIENT;
const ofWorkflow = (workflowId: string | null | undefined) => ({ 'temporal.workflow_id': workflowId ?? '' });

/** Opens a span for each call that starts, signals or updates a workflow, and names it to the workflow. */
export const traceCalls: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inSpan(
      { name: `StartWorkflow:${input.workflowType}`, kind, attributes: ofWorkflow(input.options.workflowId) },
      () => next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  signalWithStart: (input, next) =>
    inSpan(
      { name: `SignalWithStartWorkflow:${input.workflowType}`, kind, attributes: ofWorkflow(input.options.workflowId) },
      () => next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  startUpdateWithStart: (input, next) =>
    inSpan(
      {
        name: `UpdateWithStartWorkflow:${input.workflowType}`,
        kind,
        attributes: ofWorkflow(input.workflowStartOptions.workflowId),
      },
      () =>
        next({
          ...input,
          workflowStartHeaders: withTraceHeader(input.workflowStartHeaders),
          updateHeaders: withTraceHeader(input.updateHeaders),
        }),
    ),
  signal: (input, next) =>
    inSpan(
      { name: `SignalWorkflow:${input.signalName}`, kind, attributes: ofWorkflow(input.workflowExecution.workflowId) },
      () => next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
  startUpdate: (input, next) =>
    inSpan(
      {
        name: `UpdateWorkflow:${input.updateName}`,
        kind,
        attributes: ofWorkflow(input.workflowExecution.workflowId),
      },
      () => next({ ...input, headers: withTraceHeader(input.headers) }),
    ),
};
