import type { TrackerProfileFields } from '../../contracts/integrations/trackers/profile';
import type { TrackerField, TrackerSchema } from '../../contracts/integrations/trackers/tracker';
import { mapTask } from './map-task';
import { validateProfile } from './validate-profile';

const field = (id: string, kind: TrackerField['kind'], changed: Partial<TrackerField> = {}): TrackerField => ({
  ...{ id, name: id, kind, workItemTypes: ['Bug', 'Task'], requiredBy: [], allowedValues: null },
  ...changed,
});
const values = (...names: string[]) => names.map((name, index) => ({ id: String(index), name }));

const schema: TrackerSchema = {
  provider: 'jira',
  project: 'SHOP',
  workItemTypes: values('Bug', 'Task'),
  fields: [
    field('summary', 'text', { requiredBy: ['Bug', 'Task'] }),
    field('description', 'long-text'),
    field('environment', 'long-text'),
    field('priority', 'option', { allowedValues: values('Highest', 'High', 'Low') }),
    field('labels', 'options'),
    field('points', 'number'),
    field('due', 'date'),
    field('assignee', 'user', { allowedValues: [{ id: 'id-1', name: 'Ada' }] }),
    field('sprint', 'other'),
    field('place', 'option', { workItemTypes: ['Bug'], requiredBy: ['Bug'], allowedValues: values('Till') }),
    field('components', 'options', { requiredBy: ['Bug'], allowedValues: values('Shop') }),
  ],
  planningPaths: [
    { kind: 'project', path: 'SHOP', id: 'SHOP' },
    { kind: 'area', path: 'Shop', id: '1' },
    { kind: 'iteration', path: '2.0', id: '2' },
  ],
  ...{ priorities: [], states: [], tags: [], assignees: [], truncated: [] },
  capabilities: { create: true, import: true, comments: true, areas: true, iterations: true },
  posture: { baseUrl: 'https://acme.example', credential: 'env:JIRA_TOKEN', account: 'bot', privateAllowed: false },
  introspectedAt: '2026-01-01T00:00:00.000Z',
};
const title = { trackerFieldId: 'summary', source: 'title' as const, required: true };
const profile = (changed: Partial<TrackerProfileFields> = {}): TrackerProfileFields => ({
  ...{ name: 'Shop', provider: 'jira', enabled: true, defaultWorkItemType: 'Task', defaultProjectPath: 'SHOP' },
  fieldMappings: [title],
  ...changed,
});
const literal = (trackerFieldId: string, literalValue: string) => ({
  ...{ trackerFieldId, source: 'literal' as const, required: false, literalValue },
});
const mapped = (...fieldMappings: TrackerProfileFields['fieldMappings']) =>
  profile({ fieldMappings: [title, ...fieldMappings] });
const pathsOf = (tested: TrackerProfileFields) => validateProfile(tested, schema).errors.map(({ path }) => path);

const task = {
  ...{ id: 'task_20260101_ab12cd', title: ' Fix\nthe till ', description: 'It rings.', type: 'code' },
  ...{ status: 'todo' as const, priority: 'critical' as const },
};

describe('the validation of a profile', () => {
  it('allows what the schema has', () => {
    expect(validateProfile(profile({ defaultAreaPath: 'Shop', defaultIterationPath: '2.0' }), schema)).toEqual({
      errors: [],
      warnings: [],
    });
  });

  it.each<[string, TrackerProfileFields, string[]]>([
    [
      'a type that is none',
      profile({ defaultWorkItemType: 'Epic' }),
      ['defaultWorkItemType', 'fieldMappings.0.trackerFieldId'],
    ],
    ['a project of another name', profile({ defaultProjectPath: 'OTHER' }), ['defaultProjectPath']],
    ['an area that is none', profile({ defaultAreaPath: '2.0' }), ['defaultAreaPath']],
    ['an iteration that is none', profile({ defaultIterationPath: 'Shop' }), ['defaultIterationPath']],
    ['a field that is none', mapped(literal('__proto__', 'x')), ['fieldMappings.1.trackerFieldId']],
    ['a field of another type', mapped(literal('place', 'Till')), ['fieldMappings.1.trackerFieldId']],
    ['a kind that cannot be filled', mapped(literal('sprint', '3')), ['fieldMappings.1.literalValue']],
    ['a field twice', mapped(literal('summary', 'x')), ['fieldMappings.1.trackerFieldId']],
    ['a number that is none', mapped(literal('points', 'three')), ['fieldMappings.1.literalValue']],
    ['a date that is none', mapped(literal('due', '2026-13-01')), ['fieldMappings.1.literalValue']],
    ['a value that is not allowed', mapped(literal('priority', 'Soon')), ['fieldMappings.1.literalValue']],
    ['a person who is not there', mapped(literal('assignee', 'id-2')), ['fieldMappings.1.literalValue']],
    [
      'a text for a number',
      mapped({ trackerFieldId: 'points', source: 'title', required: false }),
      ['fieldMappings.1.trackerFieldId'],
    ],
    ['required fields without a mapping', profile({ defaultWorkItemType: 'Bug' }), ['fieldMappings', 'fieldMappings']],
    ['the title as the backlink', profile({ backlinkFieldId: 'summary' }), ['backlinkFieldId']],
    ['a backlink that is no text', profile({ backlinkFieldId: 'points' }), ['backlinkFieldId']],
    ['a backlink that is no field', profile({ backlinkFieldId: 'nowhere' }), ['backlinkFieldId']],
  ])('refuses %s', (_case, tested, paths) => {
    expect(pathsOf(tested)).toEqual(paths);
  });

  it('counts a required field as filled by where the work is planned', () => {
    const fieldMappings = [title, literal('place', 'till')];
    expect(pathsOf(profile({ defaultWorkItemType: 'Bug', defaultAreaPath: 'Shop', fieldMappings }))).toEqual([]);
  });

  it('warns of what a list that was cut may have', () => {
    const cut = { ...schema, truncated: ['planningPaths'] };
    const { errors, warnings } = validateProfile(profile({ defaultAreaPath: 'Far' }), cut);
    expect([errors, warnings.map(({ path }) => path)]).toEqual([[], ['defaultAreaPath']]);
  });

  it('refuses a project that takes no work items', () => {
    const closed = { ...schema, capabilities: { ...schema.capabilities, create: false } };
    expect(validateProfile(profile(), closed).errors).toMatchObject([{ path: 'defaultProjectPath' }]);
  });
});

describe('the payload of a task', () => {
  it('has texts, options by their names, and several values', () => {
    const tested = mapped(
      { trackerFieldId: 'description', source: 'description', required: false },
      { trackerFieldId: 'priority', source: 'priority', required: false },
      { trackerFieldId: 'labels', source: 'status', required: false },
      literal('labels', 'a, b,'),
      literal('points', '3.5'),
      literal('assignee', 'ada'),
    );
    expect(mapTask({ ...tested, defaultIterationPath: '2.0' }, task, schema)).toEqual({
      payload: {
        ...{ workItemType: 'Task', projectPath: 'SHOP', areaPath: null, iterationPath: '2.0' },
        fields: {
          ...{ summary: 'Fix the till', description: 'It rings.', priority: 'Highest', points: 3.5 },
          ...{ labels: ['status: todo', 'a', 'b'], assignee: 'id-1' },
        },
      },
      errors: [],
      warnings: [],
    });
  });

  it('names the task in its backlink, behind what the field has', () => {
    const description = { trackerFieldId: 'description', source: 'description' as const, required: false };
    const { payload } = mapTask({ ...mapped(description), backlinkFieldId: 'description' }, task, schema);
    expect(payload.fields.description).toBe('It rings.\n\nRunboard task task_20260101_ab12cd');
    const alone = mapTask(profile({ backlinkFieldId: 'environment' }), task, schema);
    expect(alone.payload.fields.environment).toBe('Runboard task task_20260101_ab12cd');
  });

  it.each([
    [true, 'errors'],
    [false, 'warnings'],
  ] as const)('has an empty source that is required (%s) among its %s', (required, list) => {
    const mapping = { trackerFieldId: 'description', source: 'description' as const, required };
    const result = mapTask(mapped(mapping), { ...task, description: ' ' }, schema);
    expect(result[list]).toMatchObject([{ path: 'fieldMappings.1' }]);
    expect(result.payload.fields).not.toHaveProperty('description');
  });

  it('has no priority that the tracker has no name for', () => {
    const mapping = { trackerFieldId: 'priority', source: 'priority' as const, required: true };
    expect(mapTask(mapped(mapping), { ...task, priority: 'medium' }, schema).errors).toMatchObject([
      { message: expect.stringContaining('medium') },
    ]);
  });
});
