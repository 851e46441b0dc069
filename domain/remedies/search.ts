import type { Remedy } from './remedy';

/** Refusals of searches. */
export const searchRemedies: Record<string, Remedy> = {
  SEARCH_MODEL_MISSING: {
    none: 'Search with backend keyword; an administrator sets BOARD_MODELS and BOARD_SEARCH_MODEL for the API.',
  },
  SEARCH_MODEL_UNAVAILABLE: { none: 'Search with backend keyword or auto until the model answers again.' },
};
