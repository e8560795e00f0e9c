//! The dispatch arbiter of a run, from the user's settings.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::Args;
use super::opening::{self, unlock, warn};
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::config::{Environment, Paths, Secrets};
use crate::event::ThinkingLevel;
use crate::model::catalogue::{self, Request, Selection};
use crate::model::{self, Api, Model, Offline, Provider, Script, Secret, clamp_thinking};
use crate::session::SharedSession;
use crate::subagent::{Judge, Manager, ModelArbiter, Refusal, Scope};
use crate::wire::EventSender;

/// What an arbiter decides with. Nobody is asked yet.
pub(super) struct ArbiterSetup {
    judge: Result<Judge, Refusal>,
    scope: Scope,
    guide: Option<PathBuf>,
    /// Values that must not get out.
    secrets: Secrets,
    /// Variables that tools do not get.
    hidden_variables: Vec<OsString>,
}

impl ArbiterSetup {
    /// Opens the arbiter's model, if the settings want one, for a run on the model `own` with these
    /// tools. A model that cannot be opened is no failure of the run: each start of an agent is
    /// refused.
    ///
    /// It is opened before anything is asked of it, so that its key is known to all that keep keys
    /// from getting out.
    pub(super) async fn prepare(
        args: &Args,
        settings: &Settings,
        paths: &Paths,
        environment: &Environment,
        own: &Model,
        tools: &[String],
    ) -> Option<Self> {
        let wanted = &settings.subagent_arbiter;
        if !wanted.enabled || !tools.iter().any(|tool| tool == "subagent") {
            return None;
        }
        // One that cannot be read was told of, or the run would not be on the offline model.
        let models = ModelsFile::load(&paths.models()).unwrap_or_default();
        let mut keys = opening::keys(&models, paths, environment);
        if args.api_key.is_some() {
            keys.insert(own.provider.clone());
        }
        let names = Names {
            settings: settings.clone(),
            settings_file: paths.settings(),
            models,
            keys,
        };
        let mut setup = Self {
            judge: Err(Refusal::Internal),
            scope: Scope::new(Vec::new(), Box::new(|_| None)),
            // A relative one must not be a file of the project.
            guide: wanted
                .guide_path
                .as_ref()
                .map(|file| paths.root().join(file)),
            secrets: Secrets::default(),
            hidden_variables: Vec::new(),
        };
        setup.judge = setup.open(args, &names, paths, environment, own).await;
        if let Err(refusal) = &setup.judge {
            warn(&[format!("no background agent can start: {refusal}")]);
        }
        let models = names.in_scope(own);
        let resolve = move |name: &str| {
            let selection = catalogue::select_arbiter(&names.request(), name).ok()?;
            Some(selection.model)
        };
        setup.scope = Scope::new(models, Box::new(resolve));
        Some(setup)
    }

    async fn open(
        &mut self,
        args: &Args,
        names: &Names,
        paths: &Paths,
        environment: &Environment,
        own: &Model,
    ) -> Result<Judge, Refusal> {
        let settings = &names.settings;
        let wanted = &settings.subagent_arbiter;
        let name = wanted.model.as_deref().ok_or(Refusal::NoModel)?;
        match name.split_once('/') {
            Some((provider, id)) if !provider.is_empty() && !id.is_empty() => {}
            _ => return Err(Refusal::NoName),
        }
        let broken = |error: &dyn std::fmt::Display| Refusal::Model(error.to_string());
        let selection =
            catalogue::select_arbiter(&names.request(), name).map_err(|error| broken(&error))?;
        warn(&selection.warnings);
        let level = wanted.thinking.or(selection.thinking);
        // The key on the command line opens one service and is not shown to another.
        let flag = args.api_key.as_deref().map(Secret::new);
        let flag = flag.filter(|_| selection.model.provider == own.provider);
        let (paths, environment) = (paths.clone(), environment.clone());
        let unlocked = unlock(flag, selection, &names.models, paths, environment).await;
        let (model, found) = unlocked.map_err(|error| broken(&error))?;
        warn(&found.warnings);
        self.hidden_variables = opening::hidden_variables(settings, &names.models, &found);
        self.secrets = found.secrets;
        let timeouts = opening::timeouts(settings);
        let provider: Box<dyn Provider> = match &args.script {
            Some(file) if model.api == Api::Offline => {
                let script = Script::load(file).map_err(|error| broken(&error))?;
                Box::new(Offline::scripted(script, timeouts))
            }
            _ => model::connect(&model, found.key, timeouts).map_err(|error| broken(&error))?,
        };
        let (thinking, changed) = clamp_thinking(&model, level.unwrap_or(ThinkingLevel::Off));
        if level.is_some() && changed.is_some() {
            return Err(Refusal::Thinking);
        }
        Ok(Judge {
            model,
            provider,
            thinking,
        })
    }

    /// Hands over what tools and lines must not show.
    pub(super) fn hide(&mut self, variables: &mut Vec<OsString>, secrets: &mut Secrets) {
        variables.append(&mut self.hidden_variables);
        secrets.absorb(std::mem::take(&mut self.secrets));
    }

    /// Has the agents of `manager` decided on from here on.
    pub(super) fn serve(
        self,
        manager: &Manager,
        session: &SharedSession,
        events: &EventSender,
        secrets: &Arc<Secrets>,
    ) {
        manager.set_arbiter(Arc::new(ModelArbiter {
            judge: self.judge,
            guide: self.guide,
            agents: manager.definitions().clone(),
            scope: self.scope,
            session: session.clone(),
            events: events.clone(),
            secrets: Arc::clone(secrets),
            timeout: ModelArbiter::TIMEOUT,
        }));
    }
}

/// What names of models mean.
struct Names {
    settings: Settings,
    settings_file: PathBuf,
    models: ModelsFile,
    keys: BTreeSet<String>,
}

impl Names {
    fn request(&self) -> Request<'_> {
        Request {
            provider: None,
            model: None,
            settings: &self.settings,
            settings_file: &self.settings_file,
            models_file: &self.models,
            keys: &self.keys,
        }
    }

    /// The models that agents can run on: that of their parent, and every one of `models.json` and the
    /// catalogue that needs no key or has one at hand.
    fn in_scope(&self, own: &Model) -> Vec<Model> {
        let mut models = vec![own.clone()];
        let known = catalogue::listed();
        let known = known
            .iter()
            .map(|model| (model.provider.as_str(), model.id()));
        for (provider, id) in self.models.models().chain(known) {
            let is = |model: &Model| model.provider == provider && model.id == id;
            if models.iter().any(is) {
                continue;
            }
            let name = format!("{provider}/{id}");
            let Ok(Selection { model, access, .. }) =
                catalogue::select_arbiter(&self.request(), &name)
            else {
                continue;
            };
            if is(&model) && (access.key_optional || self.keys.contains(provider)) {
                models.push(model);
            }
        }
        models
    }
}
