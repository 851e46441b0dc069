export function QueueView() {
  return null;
}
