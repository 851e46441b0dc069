import { type Headers, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';

/** The header of `platform/tracing/header.ts`, which this code only passes on. */
const traceHeader = '_tracer-data';

/** Types of workflows that serve all callers: what they do is of the trace of none, whichever started them. */
const shared: readonly string[] = ['admissionScheduler', 'issueSync', 'workflowRunDispatch'];

/**
 * Passes the trace that a workflow was started in on to its activities and children, and to the run that continues it. Spans are
 * opened outside of the sandbox: a replay opens none. Headers are no part of what a history is compared by.
 */
export function interceptors(): WorkflowInterceptors {
  let own: Headers = {};
  const passed = <T extends { headers: Headers }>(input: T): T => ({ ...input, headers: { ...own, ...input.headers } });
  return {
    inbound: [
      {
        execute(input, next) {
          const payload = shared.includes(workflowInfo().workflowType) ? undefined : input.headers[traceHeader];
          own = payload ? { [traceHeader]: payload } : {};
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(passed(input)),
        scheduleLocalActivity: (input, next) => next(passed(input)),
        startChildWorkflowExecution: (input, next) => next(passed(input)),
        continueAsNew: (input, next) => next(passed(input)),
      },
    ],
  };
}
