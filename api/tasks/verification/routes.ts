import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { task } from '../../../contracts/tasks/task';
import {
  type VerificationStep,
  verificationStepCreate,
  verificationStepPatch,
} from '../../../contracts/tasks/verification';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { newItemId, withItemChanged, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';

const taskParams = z.strictObject({ taskId });
const stepParams = z.strictObject({ taskId, stepId: z.string().max(64) });
const changes = { tag: 'verification', permission: 'task:write', response: task, errors: [409] };

/** The step checked at a time, or unchecked; one that is so already retains its time. */
const withChecked = (step: VerificationStep, checked: boolean, now: string): VerificationStep =>
  checked === step.checked ? step : { ...step, checked, checkedAt: checked ? now : undefined };

/** The checks before a task is done (specification 1, Verification, …). Every change returns the task. */
export function verificationRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/verification',
      operationId: 'addVerificationStep',
      summary: 'Add a verification step',
      params: taskParams,
      body: verificationStepCreate,
      status: 201,
    },
    (request, ctx) => {
      const added: VerificationStep = {
        id: newItemId('step'),
        description: plainField(request.body.description, 'description'),
        checked: false,
        ...(request.body.required === undefined ? {} : { required: request.body.required }),
      };
      return changeTask(request, ctx, ({ verificationSteps = [] }) => ({
        verificationSteps: [...verificationSteps, added],
      }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/verification/:stepId',
      operationId: 'changeVerificationStep',
      summary: 'Update a verification step: check, uncheck or describe it',
      params: stepParams,
      body: verificationStepPatch,
    },
    (request, ctx) => {
      const { checked, description, required } = request.body;
      const described = description === undefined ? {} : { description: plainField(description, 'description') };
      const now = new Date().toISOString();
      return changeTask(request, ctx, ({ verificationSteps }) => ({
        verificationSteps: withItemChanged(
          verificationSteps,
          { id: request.params.stepId, resource: 'verification step' },
          (before) => ({
            ...withChecked(before, checked ?? before.checked, now),
            ...described,
            ...compact({ required }),
          }),
        ),
      }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/verification/:stepId',
      operationId: 'deleteVerificationStep',
      summary: 'Delete a verification step',
      params: stepParams,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ verificationSteps }) => ({
        verificationSteps: withoutItem(verificationSteps, request.params.stepId, 'verification step'),
      })),
  );
}
