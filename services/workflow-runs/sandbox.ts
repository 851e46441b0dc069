import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { slug } from '../../contracts/common';
import { type SandboxPreset, sandboxPresetUpdate } from '../../contracts/settings/sandbox';
import { networkModeOf } from '../../domain/sandbox/network';
import type { PartEnvironment } from '../../platform/config/part-settings';
import { errorMessage } from '../../platform/errors/app-error';
import { openRunSandbox } from '../../providers/sandbox/run-sandbox';
import { createSandboxHost } from '../../providers/sandbox/sandbox-host';
import type { CommandSandbox } from './commands/command-sandbox';
import { sandboxDirectory } from './commands/workspace';

/** Thrown at start when the presets cannot be used. */
export class SandboxPresetsError extends Error {
  override readonly name = 'SandboxPresetsError';
}

/** Presets as the board answers them; what it adds to one is not needed here. */
const presetsFile = z.object({
  presets: z
    .array(z.looseObject({ id: slug }))
    .min(1)
    .max(200),
});
const added = new Set(['id', 'revision', 'createdAt', 'updatedAt']);

/**
 * The sandbox of commands, which is that of agent runs: this is the one file of the service that knows it.
 *
 * @returns `undefined` without presets
 * @throws SandboxPresetsError
 */
export async function openCommandSandbox({
  WORKFLOW_RUNS_SANDBOX_PRESETS: path,
  BOARD_DATA_DIR: dataDir,
}: PartEnvironment<'workflow-runs'>): Promise<CommandSandbox | undefined> {
  if (path === undefined) {
    return undefined;
  }
  const presets = await readPresets(path);
  const host = createSandboxHost({ protectedPaths: [resolve(dataDir)] });
  const directory = sandboxDirectory({ BOARD_DATA_DIR: dataDir });
  const ids = [...presets.keys()] as [string, ...string[]];
  return {
    presets: ids,
    async problem(id) {
      const preset = presets.get(id);
      if (!preset) {
        return `There is no sandbox preset ${JSON.stringify(id)}; there are ${ids.join(', ')}.`;
      }
      const { features, missing } = await host.probe();
      const lacksNetwork = networkModeOf(preset.network) !== 'shared' && features?.network === false;
      const lacksMemory = preset.resources?.memoryMb !== undefined && features?.memory === 'none';
      const lacksProcesses = preset.resources?.processes !== undefined && features?.processes === 'none';
      return !features || lacksNetwork || lacksMemory || lacksProcesses
        ? `This host cannot confine it: ${missing.join(' ')}`
        : undefined;
    },
    servingProblem(id) {
      const preset = presets.get(id);
      if (!preset || networkModeOf(preset.network) !== 'shared') {
        return undefined;
      }
      const own = ids.filter((each) => networkModeOf((presets.get(each) ?? preset).network) !== 'shared');
      const choose = own.length > 0 ? `choose ${own.join(' or ')}` : 'add one with "defaultEgress": "deny"';
      return `The sandbox preset ${id} shares the network of its host, where a port may be that of another program: ${choose}.`;
    },
    async open({ id, preset: presetId, workspace, serves }) {
      const preset = presets.get(presetId);
      if (!preset) {
        throw new Error(`There is no sandbox preset ${presetId}.`);
      }
      const sandbox = await openRunSandbox(host, {
        attemptId: id,
        preset,
        worktreePath: workspace,
        directory,
        given: [],
        home: homedir(),
        callsApi: false,
        serves,
      });
      return {
        wrap: (program) => sandbox.wrap(program),
        environment: sandbox.environment,
        connect: () => sandbox.connect(),
        close: () => sandbox.close(false),
      };
    },
  };
}

async function readPresets(path: string): Promise<Map<string, SandboxPreset>> {
  try {
    const { presets } = presetsFile.parse(JSON.parse(await readFile(path, 'utf8')));
    const read = presets.map((preset): [string, SandboxPreset] => {
      const fields = Object.fromEntries(Object.entries(preset).filter(([name]) => !added.has(name)));
      const at = new Date(0).toISOString();
      const parsed = { id: preset.id, ...sandboxPresetUpdate.parse(fields), revision: 1, createdAt: at, updatedAt: at };
      assertServed(parsed);
      return [preset.id, parsed];
    });
    return new Map(read);
  } catch (error) {
    throw new SandboxPresetsError(`WORKFLOW_RUNS_SANDBOX_PRESETS (${path}) cannot be used: ${errorMessage(error)}`);
  }
}

/** What a preset demands for agents and a command cannot have is an error, and not ignored. */
function assertServed({
  id,
  enabled,
  credentials,
  environment,
  requiredCapabilities,
  filesystem,
}: SandboxPreset): void {
  const unserved = [
    ...(enabled ? [] : ['enabled: false']),
    ...(credentials.mode === 'none' ? [] : ['credentials']),
    ...((environment.passthrough ?? []).length === 0 ? [] : ['environment.passthrough']),
    ...(requiredCapabilities.length === 0 ? [] : ['requiredCapabilities']),
    ...(filesystem.localOnlyHandles ? ['filesystem.localOnlyHandles'] : []),
  ];
  if (unserved.length > 0) {
    throw new Error(`preset ${id} has ${unserved.join(', ')}, which commands cannot be served with`);
  }
}
