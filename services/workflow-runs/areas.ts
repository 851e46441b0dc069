import type { Routes } from '../../platform/http/routing/routes';
import { openCompletions } from './completions/routes';
import type { OpenArea } from './context';
import { openInsights } from './insights/routes';
import { openModelCatalog } from './models/routes';
import { previewRoutes } from './previews/routes';
import { openRetros } from './retros/routes';
import type { RunsContext } from './runs/context';
import { runRoutes } from './runs/http/routes';
import { runFileRoutes } from './runs/http/routes.files';
import { runReadingRoutes } from './runs/http/routes.reading';
import { runTalkingRoutes } from './runs/http/routes.talking';
import { workflowRoutes } from './runs/http/routes.workflows';
import { openSessions } from './sessions/routes';
import { openUsage } from './usage/routes';
import { openVerification } from './verification/routes';
import { webhookRoutes } from './webhooks/routes';

/** The areas of this service besides the runs: the map of its API. */
export const areas: readonly OpenArea[] = [
  openModelCatalog,
  openCompletions,
  openSessions,
  openRetros,
  openUsage,
  openVerification,
  openInsights,
];

/** The areas of runs. */
export function runAreas(routes: Routes, runs: RunsContext): void {
  runRoutes(routes, runs);
  runReadingRoutes(routes, runs);
  runFileRoutes(routes, runs);
  runTalkingRoutes(routes, runs);
  webhookRoutes(routes, runs);
  previewRoutes(routes, runs);
  workflowRoutes(routes, runs);
}
