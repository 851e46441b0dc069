import type { OpenArea } from '../context';
import { createVerificationCatalog } from './catalog';
import { createResultStore } from './result-store';
import { controlRoutes } from './routes.controls';
import { criteriaRoutes } from './routes.criteria';
import { runVerificationRoutes } from './routes.runs';
import { openSignoffs } from './routes.signoffs';

/** Criteria and controls, what these found in runs, and signoffs of commits. */
export const openVerification: OpenArea = async ({ database, runs, now }) => {
  const catalog = await createVerificationCatalog(database, now);
  const results = await createResultStore(database);
  const signoffRoutes = await openSignoffs(database, catalog, now);
  return (routes) => {
    criteriaRoutes(routes, catalog, results);
    controlRoutes(routes, catalog, results);
    signoffRoutes(routes);
    runVerificationRoutes(routes, { catalog, results, runs, now });
  };
};
