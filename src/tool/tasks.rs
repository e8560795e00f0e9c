//! `tasks_update`: the model's own list of what is to be done.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{InvalidArguments, Tool, ToolContext, ToolFuture, ToolOutput, arguments};
use crate::event::{SessionTask, TaskStatus, TasksUpdateEvent};

/// Most tasks of a list.
const MOST: usize = 20;

/// Arguments of `tasks_update`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The whole list, which takes the place of the one before
    tasks: Vec<Task>,
}

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What the task is told from others by
    id: String,
    /// What is to be done, in a few words
    title: String,
    /// How far it is
    status: Status,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

/// The tool `tasks_update`.
pub(super) struct TasksUpdate;

impl Tool for TasksUpdate {
    fn name(&self) -> &'static str {
        "tasks_update"
    }

    fn description(&self) -> &'static str {
        "Keep a list of tasks that whoever watches can follow. Each call gives the whole list: at most \
         20 tasks, at most one of them in_progress. Use it for work of several steps, and call it \
         again whenever a task begins or is done."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        _ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let Arguments { tasks } = arguments::parse("tasks_update", args)?;
        let tasks = tasks.into_iter().map(SessionTask::from).collect();
        let output = update(tasks);
        Ok(Box::pin(async { Ok(output) }))
    }
}

/// What is wrong with a list is told in a plain result: the list before it stays as it was.
fn update(tasks: Vec<SessionTask>) -> ToolOutput {
    if tasks.len() > MOST {
        return ToolOutput::text(
            format!(
                "Error: {} tasks are too many; at most {MOST} are allowed. Join some of them and send \
                 the list again.",
                tasks.len()
            ),
            None,
        );
    }
    let of = |status| tasks.iter().filter(move |task| task.status == status);
    let begun: Vec<_> = of(TaskStatus::InProgress).collect();
    if begun.len() > 1 {
        let ids: Vec<_> = begun.iter().map(|task| task.id.as_str()).collect();
        return ToolOutput::text(
            format!(
                "Error: only one task can be in_progress at a time, and {} are: {}. Set the others to \
                 pending or completed and send the list again.",
                begun.len(),
                ids.join(", ")
            ),
            None,
        );
    }
    let (total, completed) = (tasks.len(), of(TaskStatus::Completed).count());
    let mut text = format!("Task list updated: {completed} of {total} completed");
    let mut details = json!({ "taskCount": total, "completed": completed });
    if let Some(task) = begun.first() {
        text = format!("{text}, in progress: {}", task.title);
        details["inProgress"] = task.title.as_str().into();
    }
    ToolOutput::text(text, Some(details)).with_event(TasksUpdateEvent { tasks })
}

impl From<Task> for SessionTask {
    fn from(Task { id, title, status }: Task) -> Self {
        let status = match status {
            Status::Pending => TaskStatus::Pending,
            Status::InProgress => TaskStatus::InProgress,
            Status::Completed => TaskStatus::Completed,
        };
        Self { id, title, status }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::Tool as _;
    use crate::event::QuipuEvent;
    use crate::tool::testing::{Bench, text};

    fn tasks(statuses: &[&str]) -> Value {
        let task = |(n, status)| json!({ "id": format!("t{n}"), "title": format!("Task {n}"), "status": status });
        let tasks: Vec<_> = statuses.iter().enumerate().map(task).collect();
        json!({ "tasks": tasks })
    }

    #[test]
    fn the_schema_is_what_a_model_needs() {
        let schema = super::TasksUpdate.parameters();
        assert_eq!(schema["required"], json!(["tasks"]));
        let task = &schema["properties"]["tasks"]["items"];
        assert_eq!(task["required"], json!(["id", "title", "status"]));
        let status = task["properties"]["status"].to_string();
        for value in ["pending", "in_progress", "completed"] {
            assert!(status.contains(value), "{status}");
        }
    }

    #[tokio::test]
    async fn a_list_is_told_by_an_event_and_summed_up() {
        let bench = Bench::new();
        let given = tasks(&["completed", "in_progress", "pending"]);
        let output = bench.call("tasks_update", given.clone()).await;
        assert_eq!(
            text(&output.result),
            "Task list updated: 1 of 3 completed, in progress: Task 1"
        );
        let details = json!({ "taskCount": 3, "completed": 1, "inProgress": "Task 1" });
        assert_eq!(output.result.details, Some(details));
        assert_eq!(output.result.end_turn, None);
        let [QuipuEvent::TasksUpdate(event)] = &output.events[..] else {
            panic!("{:?}", output.events)
        };
        assert_eq!(json!(event.tasks), given["tasks"]);

        let output = bench.call("tasks_update", json!({ "tasks": [] })).await;
        assert_eq!(output.events.len(), 1);
        assert_eq!(
            output.result.details,
            Some(json!({ "taskCount": 0, "completed": 0 }))
        );
    }

    #[tokio::test]
    async fn a_list_that_cannot_be_is_told_and_changes_nothing() {
        let bench = Bench::new();
        for (statuses, words) in [
            (vec!["pending"; 21], "21 tasks are too many; at most 20"),
            (vec!["in_progress"; 3], "3 are: t0, t1, t2"),
        ] {
            let output = bench.call("tasks_update", tasks(&statuses)).await;
            assert!(text(&output.result).starts_with("Error: "));
            assert!(text(&output.result).contains(words), "{output:?}");
            assert!(!output.is_error && output.events.is_empty());
            assert_eq!(output.result.details, None);
        }
        let twenty = bench.call("tasks_update", tasks(&["pending"; 20])).await;
        assert_eq!(twenty.events.len(), 1);
        let told = bench
            .error("tasks_update", json!({ "tasks": [{ "id": "1" }] }))
            .await;
        assert!(told.contains("tasks[0]"), "{told}");
    }
}
