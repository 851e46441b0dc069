import { bySpecificity } from './specificity';

describe('route specificity', () => {
  it('puts fixed segments before parameters, whatever the order of declaration', () => {
    const paths = ['/tasks/:id/time', '/tasks/:id', '/tasks/time/summary', '/tasks', '/tasks/counts'];
    const sorted = [...paths].sort(bySpecificity);
    expect(sorted.indexOf('/tasks/counts')).toBeLessThan(sorted.indexOf('/tasks/:id'));
    expect(sorted.indexOf('/tasks/time/summary')).toBeLessThan(sorted.indexOf('/tasks/:id/time'));
  });
});
