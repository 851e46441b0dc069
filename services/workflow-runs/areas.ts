import type { Routes } from '../../platform/http/routes';
import type { OpenArea } from './context';
import type { RunsContext } from './runs/context';
import { runRoutes } from './runs/routes';
import { runReadingRoutes } from './runs/routes.reading';
import { runTalkingRoutes } from './runs/routes.talking';
import { workflowRoutes } from './runs/routes.workflows';

/** The areas of this service besides the runs: the map of its API. */
export const areas: readonly OpenArea[] = [];

/** What there is of runs. */
export function runAreas(routes: Routes, runs: RunsContext): void {
  runRoutes(routes, runs);
  runReadingRoutes(routes, runs);
  runTalkingRoutes(routes, runs);
  workflowRoutes(routes, runs);
}
