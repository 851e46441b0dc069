import type { OpenArea } from './context';
import { openInsights } from './insights/routes';
import { openRetros } from './retros/routes';
import { openUsage } from './usage/routes';
import { openVerification } from './verification/routes';

/** The areas of this service: the map of its API. */
export const areas: readonly OpenArea[] = [openRetros, openUsage, openVerification, openInsights];
