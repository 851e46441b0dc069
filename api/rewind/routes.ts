import { z } from 'zod';
import { taskId } from '../../contracts/common';
import { rewindAnswer, rewindRequest } from '../../contracts/workspace-rewind';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
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
      summary: 'Plan a rewind of the worktree (202 with an approval), and commit it once it is approved (200)',
      tag: 'runs',
      permission: 'task:write',
      params: z.strictObject({ taskId }),
      body: rewindRequest,
      response: rewindAnswer,
      errors: [404, 409, 503],
    },
    async ({ params, body, auth, header }, ctx) => {
      const caller = { actor: auth.actor, headerKey: presentedIdempotencyKey(header) };
      const answer = await rewindRun(context, params.taskId, body, caller);
      if (answer.status === 'approval-required') ctx.status = 202;
      return answer;
    },
  );
}
