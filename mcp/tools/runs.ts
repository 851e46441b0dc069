import { z } from 'zod';
import { unwrap } from '../../clients/typescript/src';
import { patchLines } from '../../clients/typescript/src/diff';
import type { components } from '../../clients/typescript/src/types';
import { attemptId } from '../../contracts/common';
import { steerRequest } from '../../contracts/runs/command';
import { fullDiffQuery } from '../../contracts/runs/diff';
import { launchRequest } from '../../contracts/runs/launch/launch';
import { reviewAcceptance, reviewSendBack } from '../../contracts/tasks/review';
import { annotations, type BoardTool, defineTool, ofTask } from '../tool';

const attempt = { ...ofTask, attemptId: attemptId.describe('Id of the attempt, as get_run returns it.') };

function fileOf(file: components['schemas']['FileDiff']) {
  const { path, oldPath, status, additions, deletions, cut } = file;
  const patch = patchLines(file).map(({ text }) => text);
  return { path, oldPath, status, additions, deletions, cut, patch: patch.join('\n') };
}

export const runTools: BoardTool[] = [
  defineTool({
    name: 'list_agents',
    title: 'List agents',
    description: 'Lists the agents that runs can be started with.',
    annotations: annotations.reads,
    input: z.strictObject({}),
    call: async ({ board, signal }) => {
      const { agents, defaultAgent } = await unwrap(board.GET('/api/config/agents', { signal }));
      const rows = agents.map(({ type, name, enabled }) => ({ type, name, enabled }));
      return { agents: rows, defaultAgent };
    },
  }),
  defineTool({
    name: 'start_run',
    title: 'Start a run',
    description:
      'Starts a run of an agent on a task, or queues it for capacity. Under the same key it is started once.',
    annotations: annotations.adds,
    input: launchRequest.pick({ agent: true, model: true, idempotencyKey: true }).extend(ofTask),
    call: async ({ board, signal }, { taskId: id, ...body }) => {
      const path = { taskId: id };
      const launch = await unwrap(board.POST('/api/agents/{taskId}/start', { params: { path }, body, signal }));
      const { attemptId: started, agent, status, warnings } = launch;
      return { taskId: id, attemptId: started, agent, status, warnings };
    },
  }),
  defineTool({
    name: 'get_run',
    title: 'Read the last run of a task',
    description: 'Reads the state, the result and the possible controls of the last run of a task.',
    annotations: annotations.reads,
    input: z.strictObject(ofTask),
    call: async ({ board, signal }, path) => {
      const run = await unwrap(board.GET('/api/agents/{taskId}/status', { params: { path }, signal }));
      const { attemptId: id, agent, state, running, attempt: last, failure, lastSequence, controls } = run;
      const available = controls.controls.filter((control) => control.available).map(({ action }) => action);
      const { completion } = last ?? {};
      return { attemptId: id, agent, state, running, completion, failure, lastSequence, controls: available };
    },
  }),
  defineTool({
    name: 'list_run_events',
    title: 'List events of a run',
    description: 'Lists what a run did, in order. Continue with afterSequence set to the nextSequence of the result.',
    annotations: annotations.reads,
    input: z.strictObject({
      ...attempt,
      afterSequence: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(100).default(30),
    }),
    call: async ({ board, signal }, { taskId: id, attemptId: of, ...query }) => {
      const path = { taskId: id, attemptId: of };
      const page = await unwrap(
        board.GET('/api/agents/{taskId}/attempts/{attemptId}/events', { params: { path, query }, signal }),
      );
      const events = page.events.map(({ sequence, kind, receivedAt, payload }) => ({
        ...{ sequence, kind, at: receivedAt, payload },
      }));
      return { events, nextSequence: page.nextCursor, hasMore: page.hasMore };
    },
  }),
  defineTool({
    name: 'get_run_diff',
    title: 'Read what a task changed',
    description: 'Reads the changed files of the worktree of a task with their lines, a page at a time.',
    annotations: annotations.reads,
    input: fullDiffQuery.pick({ from: true, to: true }).extend({
      ...ofTask,
      cursor: z.string().max(4_096).optional().describe('As nextCursor of the page before.'),
      limit: z.number().int().min(1).max(20).default(5),
    }),
    call: async ({ board, signal }, { taskId: id, ...query }) => {
      const path = { taskId: id };
      const diff = await unwrap(board.GET('/api/diff/{taskId}/full', { params: { path, query }, signal }));
      const { files, totalFiles, totalAdditions, totalDeletions, nextCursor } = diff;
      return { totalFiles, totalAdditions, totalDeletions, files: files.map(fileOf), nextCursor };
    },
  }),
  defineTool({
    name: 'steer_run',
    title: 'Steer a run',
    description: 'Sends a message to a running agent, which it reads immediately.',
    annotations: annotations.adds,
    input: steerRequest.pick({ message: true }).extend(attempt),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/agents/{taskId}/conversation/steer', { params: { path: { taskId: id } }, body, signal })),
  }),
  defineTool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'Stops a run and waits for its end. What the agent was doing is not finished.',
    annotations: annotations.destroys,
    input: z.strictObject(attempt),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/agents/{taskId}/stop', { params: { path: { taskId: id } }, body, signal })),
  }),
  defineTool({
    name: 'accept_run',
    title: 'Accept the result of a run',
    description:
      'Accepts the result of a run: its branch is merged, or its pull request is made. Read the diff before.',
    annotations: annotations.destroys,
    input: z.strictObject({ ...attempt, summary: reviewAcceptance.shape.summary }),
    call: async ({ board, signal }, { taskId: id, ...body }) => {
      const path = { taskId: id };
      const { review } = await unwrap(
        board.POST('/api/tasks/{taskId}/review/accept', { params: { path }, body, signal }),
      );
      return { taskId: id, review };
    },
  }),
  defineTool({
    name: 'send_back_run',
    title: 'Send the result of a run back',
    description: 'Sends the result of a run back to its agent with a message and the open comments on lines.',
    annotations: annotations.changes,
    input: z.strictObject({ ...attempt, message: reviewSendBack.shape.message }),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/tasks/{taskId}/review/send-back', { params: { path: { taskId: id } }, body, signal })),
  }),
];
