import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { pullRequestRoutes } from './routes.pull-requests';
import { githubStatusRoutes } from './routes.status';

/** Pull requests of the board's tasks, at GitHub or GitLab, and the connection to them. */
export function githubRoutes(routes: Routes, context: WorkflowContext): void {
  githubStatusRoutes(routes, context);
  pullRequestRoutes(routes, context);
}
