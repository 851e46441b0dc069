import { z } from 'zod';
import { listPage } from '../../../contracts/query';
import { agentConfig } from '../../../contracts/settings/agent-config';
import {
  agentFromPreset,
  agentFromPresetResponse,
  agentPresetList,
  type PresetDetection,
  type PresetId,
} from '../../../contracts/settings/agent-preset';
import { configurePreset } from '../../../domain/agents/from-preset';
import { agentPresets, findPreset } from '../../../domain/agents/presets';
import { assertFound, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { parseOrRefuse } from '../../../platform/http/routing/validation';
import { isSameJson } from '../../../platform/json/same';
import { slicePage } from '../../../platform/lists/slice';
import { currentOperation } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { refuseRelativeCommands } from './commands';
import { refuseCredentials } from './credentials';

const tag = 'config';
const setting = settingResource('agents');
const presetQuery = z.strictObject(listPage(100, 100));

/** The agents of today by name, what hosts have for them, and a configured agent of one with one call. */
export function agentPresetRoutes(routes: Routes, { agents, hosts }: Pick<ApiContext, 'agents' | 'hosts'>): void {
  const detections = async (): Promise<(id: PresetId) => PresetDetection[]> => {
    const live = await hosts.agentPresets();
    return (id) =>
      live.flatMap(({ hostId, announced: { presets, ...host } }) =>
        presets.flatMap(({ id: detected, ...found }) => (detected === id ? [{ hostId, ...host, ...found }] : [])),
      );
  };

  routes.add(
    {
      method: 'get',
      path: '/config/agent-presets',
      operationId: 'listAgentPresets',
      summary: 'List agent presets with what each live host has for them',
      tag,
      permission: 'settings:read',
      query: presetQuery,
      response: agentPresetList,
    },
    async ({ query }) => {
      const hostsOf = await detections();
      const page = slicePage(agentPresets, query, {
        positionOf: ({ id }) => ({ key: agentPresets.findIndex((one) => one.id === id), id }),
      });
      return page.answer({ presets: page.items.map((preset) => ({ ...preset, hosts: hostsOf(preset.id) })) });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/agents/from-preset',
      operationId: 'addAgentFromPreset',
      onHosts: true,
      summary: 'Add an agent to the configuration from a preset',
      tag,
      permission: 'settings:write',
      body: agentFromPreset,
      response: agentFromPresetResponse,
      status: 201,
      errors: [409],
      audit: ({ body }, { agent }) => ({
        action: 'agents.create',
        resource: agent.type,
        details: { preset: body.preset },
      }),
    },
    async ({ body, header }, ctx) => {
      refuseCredentials(body);
      refuseRelativeCommands(body);
      const preset = findPreset(body.preset);
      assertFound(preset, 'preset', body.preset);
      const configured = configurePreset(preset, body, (await detections())(preset.id));
      if ('issues' in configured) {
        throw validationError(configured.issues);
      }
      const { requirements } = configured;
      const agent = parseOrRefuse(agentConfig, configured.agent);
      const current = await agents.read();
      const existing = current.agents.find(({ type }) => type === agent.type);
      // An earlier try of the same request has added it.
      if (existing && currentOperation()?.repeated && isSameJson(existing, agent)) {
        setRevision(ctx, { ...setting, revision: current.revision });
        return { agent: existing, revision: current.revision, requirements };
      }
      const expected = await statedRevision({ ...setting, current: () => agents.read() }, { header });
      const { revision } = await agents.add(agent, expected);
      setRevision(ctx, { ...setting, revision });
      return { agent, revision, requirements };
    },
  );
}
