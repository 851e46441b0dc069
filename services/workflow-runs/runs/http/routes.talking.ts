import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { requireFound } from '../../http/fields';
import { pageFrom, pageOf, pageQuery } from '../../http/pages';
import type { RunsContext } from '../context';
import { runId } from '../run';
import { checkedAnswer } from './answers';
import { answerInput, question, steerInput } from './contracts';

const shared = { mount: 'root' as const, tag: 'human in the loop', permission: usePermission };
const byId = z.strictObject({ id: runId });
const byQuestion = z.strictObject({ id: runId, qid: z.string().max(160) });
const questionGone = 'The question has been answered or withdrawn.';
const notSteerable = 'The run cannot be steered now.';

/** People's input to a run: answers to its questions, and guidance. */
export function runTalkingRoutes(routes: Routes, { runs, commands }: RunsContext): void {
  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs/:id/questions',
      operationId: 'listRunQuestions',
      summary: 'List open questions of a run',
      params: byId,
      query: pageQuery,
      response: pageOf(question),
    },
    async ({ params, query }) => pageFrom(requireFound(await runs.get(params.id), 'Run').questions ?? [], query),
  );

  routes.add(
    {
      ...shared,
      method: 'post',
      path: '/runs/:id/questions/:qid/answer',
      operationId: 'answerRunQuestion',
      summary: 'Answer a question of a run',
      params: byQuestion,
      body: answerInput,
      response: z.undefined(),
      status: 204,
      errors: [409],
    },
    async ({ params, body }) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      if (run.status === 'queued' || run.status === 'starting') {
        throw refuse(409, 'Run is not yet running.');
      }
      const asked = run.questions?.find(({ id }) => id === params.qid);
      if (!asked) {
        throw refuse(409, questionGone);
      }
      const answer = checkedAnswer(asked, body);
      await commands.answer(run._id, questionGone, answer);
      return undefined;
    },
  );

  routes.add(
    {
      ...shared,
      method: 'post',
      path: '/runs/:id/steer',
      operationId: 'steerRun',
      summary: 'Send guidance to a run for its later prompts',
      params: byId,
      body: steerInput,
      response: z.undefined(),
      status: 202,
      errors: [409],
    },
    async ({ params, body: { guidance, location } }, ctx) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      if (run.status !== 'running' && run.status !== 'paused') {
        throw refuse(409, notSteerable);
      }
      const message = { text: guidance, ...location };
      await commands.steer(run._id, notSteerable, message);
      ctx.body = '';
      ctx.status = 202;
      return undefined;
    },
  );
}
