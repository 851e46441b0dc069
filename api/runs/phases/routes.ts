import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  phaseQuery,
  phaseSnapshot,
  phaseTransitionRequest,
  phaseTransitionResponse,
} from '../../../contracts/runs/phase';
import { authorize } from '../../../platform/http/auth/authorize';
import type { Routes } from '../../../platform/http/routing/routes';
import { presentPhase } from '../../../stores/runs/phase-store';
import type { PhasesContext } from './context';
import { chosenAttempt, currentPhase } from './read';
import { transitionPhase } from './transition';

const tag = 'phases';
const taskParams = z.strictObject({ taskId });

/** What a run may do, and changing that. */
export function phaseRoutes(routes: Routes, context: PhasesContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/phase',
      operationId: 'getRunPhase',
      summary: 'Read the phase of a run with its transitions',
      tag,
      permission: 'agent:read',
      params: taskParams,
      query: phaseQuery,
      response: phaseSnapshot,
      errors: [404],
    },
    async ({ params, query }) => {
      const attempt = await chosenAttempt(context, params.taskId, query.attemptId);
      return presentPhase(await currentPhase(context, attempt._id), query);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/phase/transitions',
      operationId: 'transitionRunPhase',
      localAgent: true,
      summary: 'Change the phase of a run: applied (201) or pending approval (202)',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: phaseTransitionRequest,
      response: phaseTransitionResponse,
      status: 201,
      errors: [403, 404, 409, 503],
      // An emergency is recorded by the workflow that begins it, and ends it.
      audit: ({ body }, answer) =>
        answer.status === 'applied' && answer.transition.kind === 'transition'
          ? {
              action: 'phase.transition',
              resource: body.attemptId,
              details: {
                operationId: body.operationId,
                phase: answer.transition.evidence.phase,
                comparison: answer.comparison,
                reason: body.reason,
                approvalId: answer.transition.approvalId ?? null,
              },
              once: `phase.transition/${body.attemptId}/${answer.transition.sequence}`,
            }
          : undefined,
    },
    async ({ params, body, auth }, ctx) => {
      if (body.emergencyOverride) {
        authorize(auth, 'admin:manage', { method: ctx.method });
      }
      const answer = await transitionPhase(context, params.taskId, { body, actor: auth.actor });
      if (answer.status === 'approval-required') {
        ctx.status = 202;
      }
      return answer;
    },
  );
}
