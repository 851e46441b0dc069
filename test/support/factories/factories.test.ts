import { agentConfig } from '../../../contracts/settings/agent-config';
import { profile } from '../../../contracts/settings/profile';
import { sandboxPreset } from '../../../contracts/settings/sandbox';
import { task, taskCreate } from '../../../contracts/tasks/task';
import { anAgent } from './agent';
import { aPreset, aProfile } from './contract';
import { aNewTask, aTask } from './task';

describe('factories', () => {
  it.each([
    ['a task', task, aTask()],
    ['a new task', taskCreate, aNewTask()],
    ['an agent', agentConfig, anAgent()],
    ['a profile', profile, aProfile()],
    ['a preset', sandboxPreset, aPreset()],
  ])('make %s by its contract', (_what, schema, made) => {
    expect(schema.parse(made)).toMatchObject(made);
  });
});
