import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createCostPredictionStore } from './cost-prediction-store';
import { createTrackedDocumentStore } from './document-store';
import { createErrorAnalysisStore } from './error-store';
import { createFeedbackStore } from './feedback-store';
import { createPromptStore } from './prompt-store';
import { createPromptUsageStore } from './prompt-usage-store';
import { createReflectionStore } from './reflection-store';
import { createSearchEntryStore } from './search-entry-store';
import { createSearchVectorStore } from './search-vector-store';
import { createSharedResourceStore } from './shared-resource-store';

/** Opens the stores of what was learnt. */
export const openKnowledgeStores = (database: Database) =>
  openTogether({
    costPredictions: createCostPredictionStore(database),
    errorAnalyses: createErrorAnalysisStore(database),
    feedback: createFeedbackStore(database),
    prompts: createPromptStore(database),
    promptUsage: createPromptUsageStore(database),
    reflections: createReflectionStore(database),
    searchEntries: createSearchEntryStore(database),
    searchIndex: database.textIndex('search'),
    searchVectors: createSearchVectorStore(database),
    sharedResources: createSharedResourceStore(database),
    trackedDocuments: createTrackedDocumentStore(database),
  });
