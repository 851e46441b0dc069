import type { Features, FeaturesPatch } from '../../contracts/settings/settings';
import { AppError } from '../../platform/errors/app-error';
import { isSameJson } from '../../platform/json/same';
import type { Database } from '../port/collection';
import { StaleRevisionError } from '../port/errors';
import { insertOnce } from '../port/insert';

/** The one document of feature settings: only what was set. Everything else is a default. */
interface FeatureDocument {
  _id: 'features';
  revision: number;
  set: FeaturesPatch;
}

/** What is in the environment and serves as a default here. */
export interface SettingsEnvironment {
  BOARD_MAX_RUNS: number;
  BOARD_RUN_TIMEOUT_MS: number;
}

export interface FeatureSettings {
  features: Features;
  /** 0 until something is set for the first time. */
  revision: number;
}

/** How long a process may use settings that another one has changed, in milliseconds. */
export const settingsCacheMs = 500;

/** Writers of one document do not stay in each other's way for longer than this. */
const maxAttempts = 50;

const unlimited = { runs: null, processes: null, memoryMb: null };
const noBudget = { tokens: null, costUsd: null };

/** The features where nothing was set. */
export const defaultFeatures = (env: SettingsEnvironment): Features => ({
  darkMode: false,
  squadChat: true,
  analyticsEnabled: true,
  enforcement: { ceremonyDesignReview: 'off', ceremonyFailureRetrospective: 'off', workspaceTrust: 'warn' },
  agents: {
    autoCommitOnComplete: false,
    commitUncommitted: true,
    commitAuthor: { name: 'Runboard', email: 'runboard@localhost' },
    commitCoAuthor: true,
    requireReview: false,
    reviewDelivery: 'merge',
    timeoutMinutes: Math.max(1, Math.floor(env.BOARD_RUN_TIMEOUT_MS / 60_000)),
  },
  watcher: {
    enabled: false,
    globalKillSwitch: true,
    defaultMode: 'ask_always',
    continueRuns: false,
    maxContinuationsPerRun: 3,
    spendCapUsd: 5,
  },
  tracing: { enabled: false },
  budget: {
    enabled: true,
    warningThreshold: 80,
    timeZone: 'UTC',
    reservePerRun: { tokens: 50_000, costUsd: 1 },
    limits: { workspace: noBudget, project: noBudget, agent: noBudget, task: noBudget, tree: noBudget },
  },
  retention: { archivedTaskDays: null, runEventDays: null, traceDays: 90, spoolHours: 24, workflowRunDays: null },
  toolServers: { credentialScopes: [] },
  admission: {
    enabled: true,
    leaseMs: 30_000,
    heartbeatMs: 10_000,
    retryAfterMs: 5_000,
    request: { runs: 1, processes: 1, memoryMb: 512 },
    limits: {
      global: { ...unlimited, runs: env.BOARD_MAX_RUNS },
      workspace: unlimited,
      rootTask: unlimited,
      provider: unlimited,
      host: unlimited,
    },
    fanOutBreaker: {
      enabled: true,
      maxDescendants: 256,
      maxDepth: 16,
      maxActiveReservations: 64,
      maxQueuedDescendants: 64,
      pressurePercent: 95,
      pressureMinDescendants: 8,
    },
    treeBudget: { tokens: null, costUsd: null },
    queue: {
      enabled: true,
      globalLimit: 1_000,
      perWorkspaceLimit: 100,
      leaseMs: 30_000,
      retryBackoffMs: 5_000,
      maxRetries: 3,
      scheduler: {
        levels: 4,
        defaultPriority: 1,
        agingMs: 60_000,
        maxPromotions: 3,
        workspaceBurst: 4,
        evaluationLimit: 32,
      },
    },
  },
});

const commonNames = ['admission', 'toolServers'] as const;
export type CommonSettingName = (typeof commonNames)[number];

/** Where the settings are that all workspaces have in common. */
export interface InstallationSettings {
  current(): Promise<Pick<Features, CommonSettingName>>;
}

/**
 * The feature settings: one document, changed by compare-and-set, the same for every process.
 *
 * @param installation of `local`, for another workspace: capacity and credentials are those of all workspaces
 */
export async function createSettingsStore(db: Database, env: SettingsEnvironment, installation?: InstallationSettings) {
  const documents = await db.collection<FeatureDocument>({ name: 'settings' });
  const defaults = defaultFeatures(env);
  let cached: { settings: FeatureSettings; until: number } | undefined;

  const present = (stored: FeatureDocument | undefined): FeatureSettings => ({
    features: merge(defaults, stored?.set ?? {}),
    revision: stored?.revision ?? 0,
  });
  const load = () => documents.get('features');
  const withCommon = async ({ features, revision }: FeatureSettings): Promise<FeatureSettings> => {
    if (!installation) {
      return { features, revision };
    }
    const { admission, toolServers } = await installation.current();
    return { features: { ...features, admission, toolServers }, revision };
  };

  /** Writes `set` if the document is still at `seen`; `undefined` when another writer was faster. */
  async function write(seen: FeatureDocument | undefined, set: FeaturesPatch): Promise<FeatureDocument | undefined> {
    if (seen) {
      return documents.findOneAndUpdate(
        { _id: 'features', revision: seen.revision },
        { $set: { set }, $inc: { revision: 1 } },
      );
    }
    const first: FeatureDocument = { _id: 'features', revision: 1, set };
    return (await insertOnce(documents, first)) ? first : undefined;
  }

  return {
    /** The current settings, straight from the store. */
    read: async (): Promise<FeatureSettings> => withCommon(present(await load())),

    /**
     * The current features, up to `settingsCacheMs` late; a change by this process is seen at once. For decisions that are made
     * often.
     */
    async current(): Promise<Features> {
      if (cached && Date.now() < cached.until) {
        return cached.settings.features;
      }
      const settings = await withCommon(present(await load()));
      cached = { settings, until: Date.now() + settingsCacheMs };
      return settings.features;
    },

    /** The settings in `part` that would have to change in `local`, since all workspaces have them in common; none of `local` itself. */
    async commonChangedBy(part: FeaturesPatch): Promise<CommonSettingName[]> {
      if (!installation) {
        return [];
      }
      const common = await installation.current();
      return commonNames.filter((name) => !isSameJson(merge(common[name], part[name] ?? {}), common[name]));
    },

    /**
     * Sets the parts of `part` and nothing else; of another workspace than `local` not what all have in common.
     *
     * @throws StaleRevisionError when `expectedRevision` is no longer the current one
     */
    async patch(part: FeaturesPatch, expectedRevision?: number): Promise<FeatureSettings> {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const seen = await load();
        if (expectedRevision !== undefined && expectedRevision !== (seen?.revision ?? 0)) {
          const { features: shown, revision } = await withCommon(present(seen));
          throw new StaleRevisionError('settings', 'features', { expectedRevision, current: { revision, shown } });
        }
        const set = merge(seen?.set ?? {}, installation ? withoutCommon(part) : part);
        if (seen && isSameJson(seen.set, set)) {
          return withCommon(present(seen));
        }
        const written = await write(seen, set);
        cached = undefined;
        if (written) {
          return withCommon(present(written));
        }
      }
      throw new AppError('CONFLICT', {
        status: 409,
        message: 'Too many concurrent changes of the settings. Try again.',
      });
    },
  };
}

export type SettingsStore = Awaited<ReturnType<typeof createSettingsStore>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutCommon = ({ admission: _admission, toolServers: _toolServers, ...own }: FeaturesPatch): FeaturesPatch =>
  own;

/** `base` with `part` laid over it, at every depth; both stay as they are. */
function merge<T extends object>(base: T, part: object): T {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(base));
  for (const [name, value] of Object.entries(part)) {
    if (value === undefined) {
      continue;
    }
    const below = Object.hasOwn(merged, name) ? merged[name] : undefined;
    merged[name] = isObject(value) ? merge(isObject(below) ? below : {}, value) : value;
  }
  // The same fields with values of the same types: the contract has validated `part`.
  return merged as T;
}
