export function TaskView() {
  return null;
}
