import { z } from 'zod';
import { unwrap } from '../../clients/typescript/src';
import { taskCheckpointSave } from '../../contracts/tasks/checkpoint';
import { observationCreate } from '../../contracts/tasks/observation';
import { taskProgressAppend } from '../../contracts/tasks/progress';
import { annotations, type BoardTool, defineTool, ofTask } from '../tool';

/** What an agent or a person records while working on a task. */
export const workTools: BoardTool[] = [
  defineTool({
    name: 'add_observation',
    title: 'Record an observation',
    description: 'Records a decision, blocker, insight or context of the work on a task, which later runs are given.',
    annotations: annotations.adds,
    input: observationCreate.pick({ content: true, type: true, score: true }).extend(ofTask),
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
    input: z.strictObject(ofTask),
    call: ({ board, signal }, path) => unwrap(board.GET('/api/tasks/{taskId}/progress', { params: { path }, signal })),
  }),
  defineTool({
    name: 'report_progress',
    title: 'Report progress',
    description: 'Appends markdown to a section of the progress of a task, which is created if it is not there.',
    annotations: annotations.adds,
    input: taskProgressAppend.extend(ofTask),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/tasks/{taskId}/progress/append', { params: { path: { taskId: id } }, body, signal })),
  }),
  defineTool({
    name: 'get_checkpoint',
    title: 'Read the checkpoint of a task',
    description: 'Reads where work on a task stopped, or null.',
    annotations: annotations.reads,
    input: z.strictObject(ofTask),
    call: ({ board, signal }, path) =>
      unwrap(board.GET('/api/tasks/{taskId}/checkpoint', { params: { path }, signal })),
  }),
  defineTool({
    name: 'save_checkpoint',
    title: 'Save a checkpoint',
    description: 'Saves where work on a task stops, for the run that resumes it; the one before is replaced.',
    annotations: annotations.changes,
    input: taskCheckpointSave.pick({ state: true, step: true }).extend(ofTask),
    call: ({ board, signal }, { taskId: id, ...body }) =>
      unwrap(board.POST('/api/tasks/{taskId}/checkpoint', { params: { path: { taskId: id } }, body, signal })),
  }),
];
