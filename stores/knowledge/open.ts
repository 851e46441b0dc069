import { workspaceDirectory } from '../../platform/processes/data-directory';
import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createCostPredictionStore } from './cost-prediction-store';
import { createTrackedDocumentStore } from './document-store';
import { createErrorAnalysisStore } from './error-store';
import { createFeedbackStore } from './feedback-store';
import { createPromptStore } from './prompt-store';
import { createPromptUsageStore } from './prompt-usage-store';
import { createReflectionStore } from './reflection-store';
import { createSearchEntryStore } from './search/entry-store';
import { createSearchVectorStore } from './search/vector-store';
import { createSharedResourceStore } from './shared-resource-store';
import { createSkillAnalyzer } from './skills/analyzer';
import { createSkillLibrary, type SkillLibrary } from './skills/library';
import { rootsOf } from './skills/roots';
import { createSkillExceptionStore } from './skills/skill-exception-store';
import { createSkillScanStore } from './skills/skill-scan-store';

/** Where skills are. */
interface SkillSettings {
  BOARD_DATA_DIR: string;
  BOARD_SKILL_ROOTS: string[];
}

/** What workspaces have in common: skills are examined one at a time, whosever they are. */
export interface SharedKnowledge {
  skills: Pick<SkillLibrary, 'analyze'>;
}

/**
 * Opens the stores of what was learnt.
 *
 * @param other of a workspace besides `local`, whose directories of skills are those in its own directory
 */
export async function openKnowledgeStores(
  database: Database,
  env: SkillSettings,
  other?: { workspaceId: string; shared: SharedKnowledge },
) {
  const stores = await openTogether({
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
    skillExceptions: createSkillExceptionStore(database),
    skillScans: createSkillScanStore(database),
    trackedDocuments: createTrackedDocumentStore(database),
  });
  const directory = workspaceDirectory(env.BOARD_DATA_DIR, other?.workspaceId ?? 'local');
  const skills = createSkillLibrary({
    sharedResources: stores.sharedResources,
    roots: rootsOf(directory, other ? [] : env.BOARD_SKILL_ROOTS),
    analyze: other?.shared.skills.analyze ?? createSkillAnalyzer(),
  });
  return { ...stores, skills };
}
