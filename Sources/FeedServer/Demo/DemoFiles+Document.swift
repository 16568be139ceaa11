// SPDX-License-Identifier: Apache-2.0

extension DemoFiles {
    /// `demo.json`, written by the tests with KALENDS_WRITE_DOCS=1 from Samples.
    static let document = #"""
        {
        "circle": {"id":"rivera-family","name":"Rivera Family","timeZone":"America/Los_Angeles"},
        "feeds": [
            {"label":null,"user":"maria-rivera"},
            {"label":null,"user":"daniel-rivera"},
            {"label":"Work laptop","user":"daniel-rivera"}
        ],
        "imports": [
            "google-export.ics",
            "outlook-export.ics",
            "apple-export.ics"
        ],
        "items": [
            {"collection":"tasks","id":"task-discharge-papers","value":{"dueAt":"{today-19 17:00}","notes":"One copy for the binder, one for Dr. Okafor.","ownerId":"maria-rivera","patientId":"mom","status":"completed","title":"File the discharge papers"}},
            {"collection":"tasks","id":"task-grab-bars","value":{"dueAt":"{today-12 10:00}","durationMinutes":120,"notes":"Drill is in the garage; studs are 40 cm apart.","ownerId":"daniel-rivera","patientId":"mom","status":"completed","title":"Grab bars in the bathroom"}},
            {"collection":"tasks","id":"task-hospital-bed","value":{"dueAt":"{today-6 12:00}","notes":"Not needed after all, she gets up well.","ownerId":"maria-rivera","patientId":"mom","status":"cancelled","title":"Rent a hospital bed"}},
            {"collection":"tasks","id":"task-pharmacy","value":{"dueAt":"{today-1 17:30}","ownerId":"daniel-rivera","patientId":"dad","reminders":[60],"status":"completed","title":"Pick up prescriptions"}},
            {"collection":"tasks","id":"task-pill-box","value":{"dueAt":"{today+0 19:00}","durationMinutes":15,"notes":"Morning: 2 white, 1 blue; evening: 1 white. Photo of the list is on the fridge 🙂","ownerId":"maria-rivera","patientId":"dad","reminders":[0,30],"status":"open","title":"Refill the pill box"}},
            {"collection":"tasks","id":"task-insurance-call","value":{"dueAt":"{today+1 09:30}","notes":"Claim 4471-B, ask for Mr. Nuñez; open 9 to 4.","ownerId":"daniel-rivera","patientId":"mom","reminders":[15],"status":"open","title":"Call the insurance about the walker"}},
            {"collection":"tasks","id":"task-groceries","value":{"dueAt":"{today+2 16:00}","durationMinutes":60,"ownerId":"daniel-rivera","status":"open","title":"Groceries: oats, yogurt, soft fruit"}},
            {"collection":"tasks","id":"task-blood-pressure-log","value":{"dueAt":"{today+4 11:00}","notes":"To the clinic's portal, not by mail.\nLast week's values are in the blue notebook.","ownerId":"maria-rivera","patientId":"dad","reminders":[1440,60],"status":"open","title":"Send the blood pressure log"}},
            {"collection":"tasks","id":"task-smoke-detector","value":{"dueAt":"{today+6 18:00}","status":"open","title":"New battery for the smoke detector"}},
            {"collection":"tasks","id":"task-call-aunt-lucia","value":{"dueAt":"{today+8 10:00}","durationMinutes":45,"notes":"She is nine hours ahead; the tablet must be charged.","ownerId":"maria-rivera","patientId":"mom","reminders":[10],"status":"open","timeZone":"Europe/Madrid","title":"Video call with Lucía in Madrid"}},
            {"collection":"tasks","id":"task-car-seat","value":{"dueAt":"{today+11 15:00}","ownerId":"daniel-rivera","patientId":"dad","status":"open","title":"Swivel cushion for the car"}},
            {"collection":"tasks","id":"task-advance-directive","value":{"dueAt":"{today+17 14:00}","durationMinutes":90,"notes":"Two witnesses, neither of them family.","ownerId":"maria-rivera","patientId":"dad","reminders":[10080,1440],"status":"open","title":"Sign the advance directive"}},
            {"collection":"shifts","id":"shift-hospital-nights","value":{"endDate":"{today-18}","notes":"Home again: somebody stays with her day and night.","ownerId":"maria-rivera","patientId":"mom","startDate":"{today-20}"}},
            {"collection":"shifts","id":"shift-past-morning-1","value":{"endAt":"{today-10 13:00}","ownerId":"daniel-rivera","patientId":"mom","startAt":"{today-10 08:00}"}},
            {"collection":"shifts","id":"shift-past-night","value":{"endAt":"{today-4 07:00}","notes":"Up twice, slept from 3.","ownerId":"maria-rivera","patientId":"mom","startAt":"{today-5 21:00}"}},
            {"collection":"shifts","id":"shift-past-morning-2","value":{"endAt":"{today-2 13:00}","ownerId":"daniel-rivera","patientId":"dad","startAt":"{today-2 08:00}"}},
            {"collection":"shifts","id":"shift-today-morning","value":{"endAt":"{today+0 13:00}","notes":"Breakfast, walk around the block, exercises 1–4.","ownerId":"maria-rivera","patientId":"mom","startAt":"{today+0 08:00}"}},
            {"collection":"shifts","id":"shift-today-evening","value":{"endAt":"{today+0 21:30}","ownerId":"daniel-rivera","patientId":"mom","startAt":"{today+0 17:00}"}},
            {"collection":"shifts","id":"shift-night-1","value":{"endAt":"{today+2 07:00}","notes":"Night light on; door of the bathroom open.","ownerId":"maria-rivera","patientId":"mom","startAt":"{today+1 21:00}"}},
            {"collection":"shifts","id":"shift-open-morning","value":{"endAt":"{today+3 13:00}","notes":"Nobody has taken this one yet.","patientId":"dad","startAt":"{today+3 08:00}"}},
            {"collection":"shifts","id":"shift-afternoon-1","value":{"endAt":"{today+5 18:00}","ownerId":"daniel-rivera","patientId":"dad","startAt":"{today+5 13:00}"}},
            {"collection":"shifts","id":"shift-weekend","value":{"endDate":"{today+9}","notes":"At Daniel's place; pack the inhaler.","ownerId":"daniel-rivera","patientId":"dad","startDate":"{today+7}"}},
            {"collection":"shifts","id":"shift-night-2","value":{"endAt":"{today+11 06:30}","ownerId":"maria-rivera","patientId":"mom","startAt":"{today+10 22:00}"}},
            {"collection":"shifts","id":"shift-morning-3","value":{"endAt":"{today+12 13:00}","ownerId":"daniel-rivera","patientId":"mom","startAt":"{today+12 08:00}"}},
            {"collection":"shifts","id":"shift-evening-2","value":{"endAt":"{today+15 21:30}","ownerId":"maria-rivera","patientId":"dad","startAt":"{today+15 17:00}"}},
            {"collection":"shifts","id":"shift-respite","value":{"endDate":"{today+21}","notes":"Maria is away: Daniel has both, Jo looks in at noon.","ownerId":"daniel-rivera","patientId":"mom","startDate":"{today+18}"}},
            {"collection":"appointments","id":"appointment-physio","value":{"durationMinutes":45,"location":"88 Lake Ave, Suite 3, Pasadena","notes":"Flat shoes, the walker, water.","patientId":"mom","provider":"Foothill Physical Therapy","recurrence":{"rrule":"FREQ=WEEKLY;COUNT=8"},"reminders":[60],"startAt":"{today-14 10:00}","status":"confirmed"}},
            {"collection":"appointments","id":"appointment-wound-check","value":{"endAt":"{today-8 15:00}","location":"Huntington Medical Plaza, 2nd floor","patientId":"mom","provider":"Dr. Okafor","startAt":"{today-8 14:30}","status":"confirmed"}},
            {"collection":"appointments","id":"appointment-cardiology","value":{"location":"Heart Center, 1200 Colorado Blvd; entrance B","notes":"No coffee that morning. Bring: list of medicines, insurance card, last ECG.","patientId":"dad","provider":"Dr. Lindqvist, Cardiology","reminders":[1440,90],"startAt":"{today+3 14:00}","status":"confirmed"}},
            {"collection":"appointments","id":"appointment-hearing","value":{"durationMinutes":30,"notes":"They close that day; new date follows.","patientId":"dad","provider":"Sound Hearing Aids","startAt":"{today+5 11:00}","status":"cancelled"}},
            {"collection":"appointments","id":"appointment-home-nurse","value":{"durationMinutes":60,"location":"At home","notes":"She calls the day before to confirm ☎️","patientId":"mom","provider":"Home nurse (Ms. Abebe)","startAt":"{today+6 09:00}","status":"tentative"}},
            {"collection":"appointments","id":"appointment-eye","value":{"endAt":"{today+13 16:30}","location":"15 San Rafael Ave, Pasadena","notes":"Pupils will be wide: she cannot read afterwards.","patientId":"mom","provider":"San Rafael Eye Clinic","reminders":[120],"startAt":"{today+13 15:15}","status":"confirmed"}},
            {"collection":"appointments","id":"appointment-care-conference","value":{"durationMinutes":60,"location":"https://meet.example.com/rivera","patientId":"dad","provider":"Care conference","reminders":[15],"startAt":"{today+16 17:00}","status":"confirmed"}},
            {"collection":"follow-ups","id":"follow-up-sleep","value":{"description":"Ask how she slept with the new dose","dueAt":"{today-9 09:00}","ownerId":"maria-rivera","patientId":"mom"}},
            {"collection":"follow-ups","id":"follow-up-lab-results","value":{"description":"Lab results from the clinic","dueAt":"{today+2 10:30}","notes":"If nothing has come, call and ask; the number is in the binder.","ownerId":"maria-rivera","patientId":"dad","reminders":[0]}},
            {"collection":"follow-ups","id":"follow-up-after-cardiology","value":{"description":"Tell the family what Dr. Lindqvist said","dueAt":"{today+4 19:30}","durationMinutes":20,"ownerId":"daniel-rivera","patientId":"dad"}},
            {"collection":"follow-ups","id":"follow-up-walker","value":{"description":"Has the walker been approved?","dueAt":"{today+9 12:00}","ownerId":"daniel-rivera","patientId":"mom","reminders":[60]}},
            {"collection":"follow-ups","id":"follow-up-respite-plan","value":{"description":"Who covers the nights while Maria is away?","dueAt":"{today+14 20:00}"}}
        ],
        "members": [
            {"displayName":"Maria Rivera","id":"maria-rivera","role":"owner"},
            {"displayName":"Daniel Rivera","id":"daniel-rivera","role":"member"},
            {"displayName":"Jo Park","id":"jo-park","role":"viewer"}
        ],
        "occurrences": [
            {"appointment":"appointment-physio","originalStart":"{today+7 10:00}","value":{"durationMinutes":45,"notes":"Moved to the afternoon: the therapist is at a training.","startAt":"{today+7 15:30}"}},
            {"appointment":"appointment-physio","originalStart":"{today+14 10:00}","value":{"status":"cancelled"}}
        ],
        "patients": [
            {"displayName":"Elena Rivera","id":"mom"},
            {"displayName":"Tomás Rivera","id":"dad"}
        ]
        }
        """#
}
