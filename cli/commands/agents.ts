import { unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { exitCodes } from '../failures';
import { oneLine } from '../output/plain';
import { stateStyle } from '../output/style';
import { table } from '../output/table';
import type { AddCommands } from './command';

type Preset = components['schemas']['AgentFromPreset']['preset'];

/** `runboard agents`: list, presets, add and check. */
export const addAgentCommands: AddCommands = (program, run) => {
  const agents = program.command('agents').description('Agents that runs can use');

  agents
    .command('list')
    .description('List configured agents')
    .action(
      run(async (session) => {
        const found = await unwrap(session.board.GET('/api/config/agents', { signal: session.signal }));
        const rows = found.agents.map(({ type, name, provider, enabled }) => [
          ...[type === found.defaultAgent ? `${type} (default)` : type, name, provider],
          enabled ? 'yes' : 'no',
        ]);
        session.print(found, () => table(['TYPE', 'NAME', 'PROVIDER', 'ENABLED'], rows));
        return undefined;
      }),
    );

  agents
    .command('presets')
    .description('List the agents that are known, and where they are installed')
    .action(
      run(async (session) => {
        const found = await unwrap(session.board.GET('/api/config/agent-presets', { signal: session.signal }));
        const rows = found.presets.map(({ id, name, command, description, hosts }) => {
          const installed = hosts.filter(({ path }) => path !== null).map(({ hostId }) => hostId);
          return [id, name, command, installed.length === 0 ? null : installed.join(' '), description];
        });
        session.print(found, () => table(['PRESET', 'NAME', 'COMMAND', 'INSTALLED ON', 'DESCRIPTION'], rows));
        return undefined;
      }),
    );

  agents
    .command('add')
    .description('Add an agent from a preset')
    .argument('<preset>', 'id of the preset, see "runboard agents presets"')
    .option('--model <model>', 'model that it uses')
    .action(
      run(async (session, preset: string, { model }: { model?: string }) => {
        const added = await unwrap(
          session.board.POST('/api/config/agents/from-preset', {
            // The board names the presets that there are when this is none.
            body: { preset: preset as Preset, ...(model === undefined ? {} : { model }) },
            signal: session.signal,
          }),
        );
        session.print(added, () => `Added. Check it with "runboard agents check".\n`);
        return undefined;
      }),
    );

  agents
    .command('check')
    .description('Check an agent on its host: program, version, handshake, login, session')
    .argument('<type>', 'type of the agent')
    .action(
      run(async (session, type: string) => {
        session.note(`Checking ${oneLine(type, 64)} on its host…`);
        const check = await unwrap(
          session.board.POST('/api/config/agents/{type}/check', {
            params: { path: { type } },
            body: {},
            signal: session.signal,
          }),
        );
        session.print(check, () => {
          const lines = check.findings.flatMap(({ step, status, message, remedy }) => [
            `${stateStyle(session.style, status)}  ${step}  ${oneLine(message, 200)}`,
            ...(remedy === null ? [] : [`    ${oneLine(remedy, 200)}`]),
          ]);
          return `${lines.join('\n')}\n`;
        });
        return check.ok ? undefined : exitCodes.refused;
      }),
    );
};
