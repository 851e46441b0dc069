import { z } from 'zod';
import { unwrap } from '../../client';
import { taskId } from '../../contracts/common';
import { taskCheckpointSave } from '../../contracts/tasks/checkpoint';
import { observationCreate } from '../../contracts/tasks/observation';
import { taskProgressAppend } from '../../contracts/tasks/progress';
import { annotations, type BoardTool, defineTool } from '../tool';

const byId = { taskId: taskId.describe('Id of the task.') };

/** What whoever works on a task records of it. */
export const workTools: BoardTool[] = [
  defineTool({
    name: 'add_observation',
    title: 'Record an observation',
    description: 'Records a decision, blocker, insight or context of the work on a task, which later runs are given.',
    annotations: annotations.adds,
    input: observationCreate.pick({ content: true, type: true, score: true }).extend(byId),
    call: async ({ board, signal }, { taskId: id, ...body }) => {
      const path = { taskId: id };
      const task = await unwrap(board.POST('/api/tasks/{taskId}/observations', { params: { path }, body, signal }));
      return { taskId: id, observations: task.observations?.length };
    },
  }),
  defineTool({
    name: 'get_progress',
    title: 'Read the progress of a task',
    description: 'Reads what has been done on a task so far, as its workers wrote it in markdown.',
    annotations: annotations.reads,
    input: z.strictObject(byId),
    call: ({ board, signal }, path) => unwrap(board.GET('/api/tasks/{taskId}/progress', { params: { path }, signal })),
  }),
  defineTool({
    name: 'report_progress',
    title: 'Report progress',
    description: 'Appends markdown to a section of the progress of a task, which is created if it is not there.',
    annotations: annotations.adds,
    input: taskProgressAppend.extend(byId),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/tasks/{taskId}/progress/append', { params: { path: { taskId: id } }, body, signal })),
  }),
  defineTool({
    name: 'get_checkpoint',
    title: 'Read the checkpoint of a task',
    description: 'Reads where work on a task stopped, or null.',
    annotations: annotations.reads,
    input: z.strictObject(byId),
    call: ({ board, signal }, path) =>
      unwrap(board.GET('/api/tasks/{taskId}/checkpoint', { params: { path }, signal })),
  }),
  defineTool({
    name: 'save_checkpoint',
    title: 'Save a checkpoint',
    description: 'Saves where work on a task stops, for whoever resumes it; the one before is replaced.',
    annotations: annotations.changes,
    input: taskCheckpointSave.pick({ state: true, step: true }).extend(byId),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/tasks/{taskId}/checkpoint', { params: { path: { taskId: id } }, body, signal })),
  }),
];
