import { openCompletions } from './completions/routes';
import type { OpenArea } from './context';
import { openModelCatalog } from './models/routes';
import { openSessions } from './sessions/routes';

/** The areas of this service: the map of its API. */
export const areas: readonly OpenArea[] = [openModelCatalog, openCompletions, openSessions];
