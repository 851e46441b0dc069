import { compact } from '../../../../platform/json/compact';
import type { Models } from '../../../../platform/models/models';
import type { CommandSandbox } from '../../commands/command-sandbox';
import type { Graph } from '../../graph/graph';
import { isWithin } from '../../graph/kinds/command';
import { refuse } from '../../http/errors';
import { isForDefault, type RunDefaults } from '../defaults';
import type { RunCreate } from './contracts';

/**
 * What the nodes of a run have that do not set it themselves.
 *
 * @throws AppError 400 for a default that this service cannot serve, or that no node would have
 */
export async function defaultsOf(
  { llm, sandbox, directory, setup, hooks }: RunCreate,
  { nodes }: Graph,
  { models, sandbox: presets }: { models: Models; sandbox?: CommandSandbox | undefined },
): Promise<RunDefaults | undefined> {
  const given = compact({ llm: llm && llmOf(llm, models), sandbox, directory });
  for (const name of Object.keys(given) as (keyof RunDefaults)[]) {
    const isOfCommands = (setup !== undefined || hooks !== undefined) && name !== 'llm';
    if (!isOfCommands && !Object.values(nodes).some(isForDefault[name])) {
      throw refuse(
        400,
        `${name}: ${name === 'llm' ? 'every prompt names its model' : 'every command sets its own'}, if there is any.`,
      );
    }
  }
  if (directory !== undefined && !isWithin(directory)) {
    throw refuse(400, 'directory: must be a path within the workspace, without ..');
  }
  const problem = sandbox === undefined ? undefined : await presetProblem(sandbox, presets);
  if (problem !== undefined) {
    throw refuse(400, `sandbox: ${problem}`);
  }
  return Object.keys(given).length === 0 ? undefined : given;
}

const presetProblem = async (preset: string, presets: CommandSandbox | undefined): Promise<string | undefined> =>
  presets ? presets.problem(preset) : 'commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.';

function llmOf({ model, provider, fallbacks = [] }: NonNullable<RunCreate['llm']>, models: Models): RunDefaults['llm'] {
  const found = models.find(model);
  if (!found) {
    throw refuse(400, `llm.model: Model not found: ${model}`);
  }
  if (provider !== undefined && provider !== found.provider) {
    throw refuse(400, `llm.provider: ${found.id} is of the provider ${found.provider}.`);
  }
  const lost = fallbacks.findIndex((name) => !models.find(name));
  if (lost >= 0) {
    throw refuse(400, `llm.fallbacks.${lost}: Model not found: ${fallbacks[lost] ?? ''}`);
  }
  return { model: found.id, provider: found.provider, fallbacks };
}
