import { z } from 'zod';
import { stepId, workflowId, type WorkflowRights } from '../../../contracts/runs/workflows/definition';
import type { workflowRunStatus } from '../../../contracts/runs/workflows/run';
import {
  activeRunQuery,
  stepDecision,
  workflowRun,
  workflowRunId,
  workflowRunQuery,
  workflowRunResume,
  workflowRunStart,
  workflowRunStats,
  workflowRunSummary,
  workflowStepState,
} from '../../../contracts/runs/workflows/run';
import { rightsOf, type WorkflowCaller } from '../../../domain/workflows/access';
import { AppError, assertFound, conflict, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { textResponse } from '../../../platform/http/text-response';
import { compact } from '../../../platform/json/compact';
import type { Graph } from '../../../services/workflow-runs/graph/graph';
import { drawGraph } from '../../../services/workflow-runs/runs/http/draw';
import type { RunStatus } from '../../../services/workflow-runs/runs/run';
import type { WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import { findWorkflow, tag } from './operations';
import { assertMayWrite, targetsOf } from './output-targets';
import { presentRun, presentSummary, questionOf, stepState } from './present-run';
import { resumeRun, type RunContext, startRun } from './start-run';

const path = '/workflows/runs';
const onePath = `${path}/:runId` as const;
const stepPath = `${onePath}/steps/:stepId` as const;
const params = z.strictObject({ runId: workflowRunId });
const stepParams = z.strictObject({ runId: workflowRunId, stepId });
const read = { tag, permission: 'workflow:read' } as const;
const execute = { tag, permission: 'workflow:execute', localAgent: true } as const;

/** Statuses of the engine, by what they are called here. */
const engineStatuses: Record<Exclude<z.infer<typeof workflowRunStatus>, 'blocked'>, readonly RunStatus[]> = {
  pending: ['queued', 'starting'],
  running: ['running', 'paused'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

/** Runs of workflows, which the engine of the workflow-run service executes. */
export function workflowRunRoutes(routes: Routes, context: RunContext): void {
  const { workflows, workflowRuns, workflowRunClient } = context;

  /** The workflows whose runs a caller may see; `undefined` for all. */
  async function visible(caller: WorkflowCaller): Promise<string[] | undefined> {
    if (caller.role === 'admin') {
      return undefined;
    }
    return (await workflows.list()).filter(({ access }) => rightsOf(access, caller).view).map(({ id }) => id);
  }

  /** @throws AppError 404 for a run of a workflow that the caller may not see, 403 for one that it may only see */
  async function find(id: string, caller: WorkflowCaller, need: keyof WorkflowRights): Promise<WorkflowRunRecord> {
    const run = await workflowRuns.getWhole(id);
    const access = run && (await workflows.get(run.board.workflowId))?.access;
    const own = run?.created_by === caller.actor || caller.role === 'admin';
    const rights = access && rightsOf(access, caller);
    if (!run || !(own || rights?.view)) {
      throw notFound('workflow run', id);
    }
    if (!own && !rights?.[need]) {
      const message = 'The access of the workflow does not let you act on its runs.';
      throw new AppError('WORKFLOW_ACCESS_DENIED', { status: 403, message, details: { runId: id } });
    }
    return run;
  }

  function stepOf(run: WorkflowRunRecord, id: string) {
    const step = run.board.steps.find((each) => each.stepId === id);
    assertFound(step, 'step', id);
    return step;
  }

  routes.add(
    {
      ...execute,
      method: 'post',
      path: '/workflows/:id/runs',
      operationId: 'startWorkflowRun',
      summary: 'Start a run of a workflow',
      params: z.strictObject({ id: workflowId }),
      body: workflowRunStart,
      response: workflowRun,
      status: 201,
      errors: [403, 404, 429, 503],
      audit: ({ params: { id } }, { id: runId, workflowVersion }) => ({
        action: 'workflow.run',
        resource: id,
        details: { runId, version: workflowVersion },
      }),
    },
    async ({ params: { id }, body, auth }) => {
      const record = await findWorkflow(workflows, id, { caller: auth, need: 'execute' });
      assertMayWrite(record.definition.outputTargets ?? [], auth);
      return presentRun(await startRun(context, record, { actor: auth.actor, ...body }));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path,
      operationId: 'listWorkflowRuns',
      summary: 'List workflow runs, newest first',
      query: workflowRunQuery,
      response: z.array(workflowRunSummary),
    },
    async ({ query: { workflowId: only, ...part }, auth }) => {
      const seen = await visible(auth);
      const workflowIds = only === undefined ? seen : seen === undefined || seen.includes(only) ? [only] : [];
      return (await workflowRuns.list(compact({ workflowIds }), part)).map(presentSummary);
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${path}/active`,
      operationId: 'listActiveWorkflowRuns',
      summary: 'List workflow runs that have not ended, newest first',
      query: activeRunQuery,
      response: z.array(workflowRunSummary),
    },
    async ({ query, auth }) => {
      const statuses = [...engineStatuses.pending, ...engineStatuses.running];
      const workflowIds = await visible(auth);
      return (await workflowRuns.list(compact({ workflowIds, statuses }), query)).map(presentSummary);
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${path}/stats`,
      operationId: 'countWorkflowRuns',
      summary: 'Count workflow runs by status',
      response: workflowRunStats,
    },
    async ({ auth }) => {
      const workflowIds = await visible(auth);
      const counts = await Promise.all(
        Object.entries(engineStatuses).map(
          async ([status, statuses]) => [status, await workflowRuns.count(compact({ workflowIds, statuses }))] as const,
        ),
      );
      const byStatus = Object.fromEntries(counts) as Record<keyof typeof engineStatuses, number>;
      return { total: counts.reduce((sum, [, count]) => sum + count, 0), byStatus };
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: onePath,
      operationId: 'getWorkflowRun',
      summary: 'Read a workflow run with its steps',
      params,
      response: workflowRun,
      errors: [404],
    },
    async ({ params: { runId }, auth }) => presentRun(await find(runId, auth, 'view')),
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${onePath}/graph`,
      operationId: 'drawWorkflowRun',
      summary: 'Render the graph of a workflow run as SVG, coloured by the state of its nodes',
      params,
      response: z.string(),
      mediaType: 'image/svg+xml',
      errors: [404, 502],
    },
    async ({ params: { runId }, auth }) => {
      const run = await find(runId, auth, 'view');
      return textResponse(await drawGraph(JSON.parse(run.dot_source) as Graph, run), 'image/svg+xml', {
        // Opened by itself it is a document of this origin.
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      });
    },
  );

  routes.add(
    {
      ...execute,
      method: 'post',
      path: `${onePath}/resume`,
      operationId: 'resumeWorkflowRun',
      summary: 'Continue a failed workflow run at the step that failed, as a run of its own',
      params,
      body: workflowRunResume,
      response: workflowRun,
      status: 201,
      errors: [403, 404, 409, 429, 503],
      audit: ({ params: { runId } }, { id }) => ({
        action: 'workflow.resume',
        resource: runId,
        details: { runId: id },
      }),
    },
    async ({ params: { runId }, body, auth }) => {
      const run = await find(runId, auth, 'execute');
      assertMayWrite(targetsOf(JSON.parse(run.dot_source) as Graph), auth);
      return presentRun(await resumeRun(context, run, { actor: auth.actor, ...body }));
    },
  );

  routes.add(
    {
      ...execute,
      method: 'post',
      path: `${onePath}/cancel`,
      operationId: 'cancelWorkflowRun',
      summary: 'Cancel a workflow run; agents of its steps are stopped',
      params,
      response: workflowRun,
      errors: [403, 404, 409, 503],
      audit: ({ params: { runId } }) => ({ action: 'workflow.cancel', resource: runId }),
    },
    async ({ params: { runId }, auth }) => {
      await workflowRunClient.cancel(await find(runId, auth, 'execute'));
      return presentRun(await find(runId, auth, 'execute'));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${stepPath}/status`,
      operationId: 'getWorkflowStep',
      summary: 'Read what has become of a step of a workflow run',
      params: stepParams,
      response: workflowStepState,
      errors: [404],
    },
    async ({ params: { runId, stepId: id }, auth }) => {
      const run = await find(runId, auth, 'view');
      return stepState(run, stepOf(run, id));
    },
  );

  for (const [verb, operationId, summary] of [
    ['approve', 'approveWorkflowStep', 'Approve a step of a workflow run that waits for a person'],
    ['reject', 'rejectWorkflowStep', 'Reject a step of a workflow run that waits for a person'],
  ] as const) {
    routes.add(
      {
        ...execute,
        method: 'post',
        path: `${stepPath}/${verb}`,
        operationId,
        summary,
        params: stepParams,
        body: stepDecision,
        response: workflowStepState,
        errors: [403, 404, 409, 429, 503],
        audit: ({ params: { runId, stepId: id } }) => ({
          action: `workflow.step.${verb}`,
          resource: runId,
          details: { stepId: id },
        }),
      },
      async ({ params: { runId, stepId: id }, body: { comment }, auth }) => {
        if (auth.role === 'agent') {
          const message = "The decision is a person's: agents neither approve nor reject steps.";
          throw new AppError('HUMAN_REQUIRED', { status: 403, message, details: { runId, stepId: id } });
        }
        const run = await find(runId, auth, 'execute');
        const step = stepOf(run, id);
        const question = questionOf(run, step);
        if (!question) {
          const { status } = stepState(run, step);
          throw conflict('The step does not wait for approval.', { runId, stepId: id, status }, 'STEP_NOT_BLOCKED');
        }
        await workflowRunClient.answer(runId, {
          ...{ questionId: question.id, keys: [verb] },
          ...compact({ value: comment === '' ? undefined : comment }),
        });
        const after = await find(runId, auth, 'execute');
        return stepState(after, step);
      },
    );
  }
}
