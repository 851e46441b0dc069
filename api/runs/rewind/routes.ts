import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { rewindRequest, rewindResponse } from '../../../contracts/runs/rewind';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { RewindContext } from './context';
import { rewindRun } from './rewind';

/** Taking the worktree of a run back to a checkpoint. */
export function rewindRoutes(routes: Routes, context: RewindContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/workspace/checkpoints/rewind',
      operationId: 'rewindWorkspace',
      idempotency: 'own',
      summary: 'Plan a worktree rewind (202, pending approval) or commit an approved one (200)',
      tag: 'runs',
      permission: 'task:write',
      params: z.strictObject({ taskId }),
      body: rewindRequest,
      response: rewindResponse,
      errors: [404, 409, 503],
    },
    async ({ params, body, auth, header }, ctx) => {
      const caller = { actor: auth.actor, headerKey: presentedIdempotencyKey(header) };
      const answer = await rewindRun(context, params.taskId, { request: body, caller });
      if (answer.status === 'approval-required') {
        ctx.status = 202;
      }
      return answer;
    },
  );
}
