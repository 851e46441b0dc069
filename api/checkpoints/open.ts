import { createCheckpointStore } from '../../stores/checkpoint-store';
import type { OpenArea } from '../durable-context';
import { checkpointRoutes } from './routes';

export const openCheckpoints: OpenArea = async ({ database, runs }) => {
  const context = { ...runs, checkpoints: await createCheckpointStore(database) };
  return (routes) => checkpointRoutes(routes, context);
};
